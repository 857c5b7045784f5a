"""Finds a library's entry points: kernels, and explicit instantiations of kernel templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Function, Scopes
from .address_spaces import ATTRIBUTE, parameter_ranges
from .kernel_templates import KernelTemplates
from .members import SPACES, Member, declared_name, members_of, outside_attributes, resource_kind
from .template_types import given_types

POSITIONS = frozenset(
    {
        "thread_position_in_grid",
        "thread_position_in_threadgroup",
        "threadgroup_position_in_grid",
        "threads_per_threadgroup",
        "dispatch_threads_per_threadgroup",
        "threads_per_grid",
        "threadgroups_per_grid",
        "thread_index_in_threadgroup",
        "thread_index_in_simdgroup",
        "simdgroup_index_in_threadgroup",
        "simdgroups_per_threadgroup",
        "dispatch_simdgroups_per_threadgroup",
        "threads_per_simdgroup",
        "thread_execution_width",
        "thread_index_in_quadgroup",
        "quadgroup_index_in_threadgroup",
        "quadgroups_per_threadgroup",
        "dispatch_quadgroups_per_threadgroup",
        "grid_origin",
        "grid_size",
    }
)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NOT_TYPE = frozenset({"const", "volatile", "restrict", "__restrict", "*", "&", "thread", *SPACES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A kernel's parameter as the source declares it; `index` is an expression or "".

    `position` names the grid attribute of a parameter that is no argument; `condition` the function
    constant on which an argument depends; `members` those of an argument buffer's struct;
    `is_reference` is whether it is declared with `&`.
    """

    name: str
    space: str
    type_name: str
    index: str
    position: str
    condition: str
    members: tuple[Member, ...] = ()
    is_reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """One function that a library offers: its name there and the C++ expression for it.

    One that `is_visible` is no kernel, but can be put into tables that kernels call.
    """

    name: str
    expression: str
    parameters: tuple[Parameter, ...]
    max_threads: str
    file: str
    line: int
    is_visible: bool = False


def find_entry_points(
    stream: TokenStream, scopes: Scopes, attributes: Attributes
) -> tuple[EntryPoint, ...]:
    """Every entry point in the order of the source; removes the explicit instantiations."""
    finder = _Finder(stream, scopes, attributes)
    templates = KernelTemplates(stream)
    uses = Counter((function.namespace, function.name) for function in scopes.functions)
    found: dict[str, EntryPoint] = {}
    for function in sorted(scopes.functions, key=lambda function: function.start):
        is_instantiation = _is_instantiation(stream, attributes, function)
        is_offered = finder.is_kernel(function) or finder.is_visible(function)
        if is_instantiation or not is_offered:
            continue
        if function.template is not None:
            templates.add(function)
        elif function.body is not None:
            given = attributes.within(function.start, function.name_index)
            name = _host_name(given, function)
            found[name] = finder.entry(name, function, "")
            several = uses[function.namespace, function.name] > 1
            if several and finder.is_kernel(function):
                found[name] = finder.by_signature(name, function, function.parameters[0])
    for start, end, namespace in _instantiations(stream, attributes, scopes):
        name, entry = finder.instantiation(start, end, namespace, templates)
        if entry is not None:
            found[name] = entry
        stream.blank(start, end)
    return tuple(found.values())


def _argument_table(given: dict[str, str], space: str, words: Sequence[str]) -> str:
    """The attribute that numbers a parameter, written or not; "" if it is no argument."""
    if space:
        return "threadgroup" if space == "threadgroup" else "buffer"
    for attribute in ("texture", "sampler", "buffer"):
        if attribute in given:
            return attribute
    kind = resource_kind(words)
    return "buffer" if kind == "function_table" else kind


def _host_name(given: dict[str, str], function: Function) -> str:
    """The name that `[[host_name("a" "b")]]` gives, or the function's own."""
    literals = _STRING.findall(given.get("host_name", ""))
    return "".join(literals) or function.name


def _is_instantiation(stream: TokenStream, attributes: Attributes, function: Function) -> bool:
    start = function.start
    while (group := attributes.end_of_group(start)) is not None:
        start = group + 1
    return stream.texts[start] == "template" and stream.texts[start + 1] != "<"


def _instantiations(
    stream: TokenStream, attributes: Attributes, scopes: Scopes
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Token ranges of the explicit instantiations that carry a host name."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for statement in scopes.statements:
        start = statement.start
        while (group := attributes.end_of_group(start)) is not None:
            start = group + 1
        if stream.texts[start] == "template" and stream.texts[start + 1] != "<":
            words = stream.texts[statement.start : statement.end]
            if "host_name" in words or "kernel" in words:
                found.append((statement.start, statement.end, statement.namespace))
    return found


class _Finder:
    """Reads parameters and names of entry points out of one text."""

    def __init__(self, stream: TokenStream, scopes: Scopes, attributes: Attributes) -> None:
        self._stream = stream
        self._attributes = attributes
        self._classes = {owner.name: owner for owner in scopes.classes}
        self._limits: dict[int, str] = {}
        self._known: dict[int, tuple[Parameter, ...]] = {}

    def is_kernel(self, function: Function) -> bool:
        """Whether the function has the `kernel` keyword or attribute."""
        words = self._stream.texts[function.start : function.name_index]
        return "kernel" in words

    def is_visible(self, function: Function) -> bool:
        """Whether the function has the attribute `visible`."""
        return "visible" in self._attributes.within(function.start, function.name_index)

    def entry(self, name: str, function: Function, arguments: str) -> EntryPoint:
        """The entry point for a function, or for its template with `arguments` (`<float, 4>`)."""
        token = self._stream.tokens[function.name_index]
        expression = "::".join(["", *function.namespace, function.name]) + arguments
        is_visible = self.is_visible(function)
        return EntryPoint(
            name=name,
            expression=expression,
            parameters=() if is_visible else self._parameters(function),
            max_threads="" if is_visible else self._limit(function, arguments),
            file=token.file,
            line=token.line,
            is_visible=is_visible,
        )

    def _parameters(self, function: Function) -> tuple[Parameter, ...]:
        """The parameters of a function, read once for all its instantiations."""
        found = self._known.get(function.start)
        if found is None:
            ranges = parameter_ranges(self._stream, function.parameters)
            found = tuple(self._parameter(first, last) for first, last in ranges)
            self._known[function.start] = found
        return found

    def _limit(self, function: Function, arguments: str) -> str:
        """The expression of `[[max_total_threads_per_threadgroup(n)]]`, or "".

        One that may name template parameters becomes a variable template beside the kernel.
        """
        stream = self._stream
        limit = self._attributes.within(function.start, function.name_index).get(
            "max_total_threads_per_threadgroup", ""
        )
        if not limit or limit.isdigit() or function.template is None:
            return limit
        if not arguments:
            return ""
        if function.start not in self._limits:
            name = f"__assay_limit_{len(self._limits)}"
            self._limits[function.start] = name
            header = stream.source(*function.template)
            stream.before(function.start, f"template {header} constexpr int {name} = ({limit}); ")
        name = self._limits[function.start]
        return "::".join(["", *function.namespace, name]) + arguments

    def instantiation(
        self, start: int, end: int, namespace: tuple[str, ...], templates: KernelTemplates
    ) -> tuple[str, EntryPoint | None]:
        """Name and entry point of `template [[host_name("n")]] ... f<args>...;`."""
        texts = self._stream.texts
        stop = end
        index = start
        while index < stop:
            if texts[index] in ("(", "["):
                index = self._stream.match[index] + 1
                continue
            if texts[index] in templates and texts[index + 1] in ("<", ";", "("):
                break
            index += 1
        else:
            return "", None
        close = index
        if texts[index + 1] == "<":
            found = self._stream.close_angle(index + 1)
            if found is None:
                raise self._stream.error(index + 1, "expected '>' to end the template arguments")
            close = found
        paren = close + 1 if texts[close + 1] == "(" else None
        written = (paren, self._stream.match[paren]) if paren is not None else None
        function = templates.meant(texts[index], written)
        if written is not None and not templates.repeats(function, written):
            problem = f"this instantiates no template '{texts[index]}': they have other parameters"
            raise self._stream.error(index, problem)
        name = _host_name(self._attributes.within(start, end), function)
        arguments = self._stream.source(index + 1, close) if close != index else ""
        if paren is not None and (not arguments or templates.are_several(texts[index])):
            entry = self.by_signature(name, function, paren, arguments)
        else:
            entry = self.entry(name, function, arguments)
        if arguments:
            entry = self._with_types(entry, function, (index + 1, close))
        return name, entry

    def _with_types(
        self, entry: EntryPoint, function: Function, arguments: tuple[int, int]
    ) -> EntryPoint:
        """The entry point whose parameters are of the types that are given to their template."""
        if function.template is None:
            return entry
        types = given_types(self._stream, function.template, arguments)
        parameters = tuple(
            replace(each, type_name=types.get(each.type_name, each.type_name))
            for each in entry.parameters
        )
        return replace(entry, parameters=parameters)

    def by_signature(
        self, name: str, function: Function, paren: int, arguments: str = ""
    ) -> EntryPoint:
        """The entry point, chosen among overloads or instantiated by its written parameters."""
        texts = self._stream.texts
        plain = outside_attributes(self._attributes, paren + 1, self._stream.match[paren] - 1)
        words = [ATTRIBUTE.get(texts[index], texts[index]) for index in plain]
        signature = " ".join(word for word in words if word != "thread")
        found = self.entry(name, function, arguments)
        return replace(found, expression=f"(*(void (*)({signature}))&{found.expression})")

    def _parameter(self, first: int, last: int) -> Parameter:
        """One parameter from its tokens."""
        stream, attributes = self._stream, self._attributes
        given = attributes.within(first, last)
        plain = [
            index
            for index in outside_attributes(attributes, first, last)
            if stream.texts[index] not in ("=",)
        ]
        words = [stream.texts[index] for index in plain]
        position = next((name for name in given if name in POSITIONS), "")
        space = next((word for word in words if word in SPACES), "")
        name_at = declared_name(stream, plain)
        name = stream.texts[name_at] if name_at is not None else ""
        types = [
            i
            for i in plain
            if stream.texts[i] not in _NOT_TYPE and (name_at is None or i < name_at)
        ]
        type_name = stream.source(types[0], types[-1]) if types else ""
        if "stage_in" in given:
            stream.report(first, "'[[stage_in]]' parameters are not supported")
        place = _argument_table(given, space, [stream.texts[index] for index in types])
        if not position and not place and "stage_in" not in given:
            stream.report(
                first,
                f"kernel parameter '{name}' has neither an address space nor a known attribute",
            )
        return Parameter(
            name=name,
            space=space,
            type_name=type_name,
            index=given.get(place, ""),
            position=position,
            condition=given.get("function_constant", ""),
            members=members_of(stream, attributes, self._classes, type_name),
            is_reference="&" in words,
        )


def remove_kernel_keywords(stream: TokenStream) -> None:
    """Blank the qualifiers of functions and parameters that C++ does not have."""
    for index, text in enumerate(stream.texts):
        if text == "kernel":
            following = stream.texts[index + 1] if index + 1 < len(stream.texts) else ""
            if following not in (".", "=", ",", ";", ")", "->", "("):
                stream.blank(index, index)
        elif text == "coherent" and stream.texts[index + 1] == "(":
            stream.blank(index, stream.match[index + 1])
        elif text == "coherent" and stream.texts[index + 1] in SPACES:
            stream.blank(index, index)

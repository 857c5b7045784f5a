"""Visible functions of a library, which kernels call by their names, or by their place in a table.

A name is called as `@name.MTL_VISIBLE_FN_REF`. What a table gives is a function's number, from 1 on
in the order in which the host linked them, and calls of it are a switch over those of its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.sim.native.llvm_modules import linked, module_of

from .body import Body
from .container import AirFormatError
from .flat import flattened
from .names import AirFunction
from .textures.functions import nothing

_SUFFIX = ".MTL_VISIBLE_FN_REF"
_REFERENCE = re.compile(rf"@(?P<quote>\"?)(?P<name>[\w.$]+?){re.escape(_SUFFIX)}(?P=quote)")
_DECLARED = re.compile(
    r"^declare (?P<head>[^@\n]*)(?P<name>@\S+?)\((?P<taken>[^\n]*)\)(?P<rest>[^\n)]*)$",
    re.MULTILINE,
)
_CALL = re.compile(
    r"^(?P<result>\s+(?:%\S+ = )?)(?:(?:tail|notail) )?call "
    r"(?P<head>[^@\n(]*(?:\([^@\n)]*\)[^@\n(]*)*?)(?P<called>%[\w.$]+)\(",
    re.MULTILINE,
)
_TYPE = re.compile(
    r"ptr(?: addrspace\(\d+\))?|<\d+ x \w+>|\{[^}]*\}|\[\d+ x [^\]]*\]"
    r"|%\"[^\"]*\"|%[\w.$]+|i\d+|half|bfloat|float|double|void"
)
_NULL = "  %nothing = load volatile i32, ptr addrspace(1) null\n"
_TABLE = "auto t = (const __ASSAY_CONSTANT uint*)p0; "
_FUNCTIONS = {
    "air.get_function_pointer_visible_function_table": (
        "ptr",
        2,
        _TABLE + "return (void*)(ulong)(t && p1 < t[0] ? t[p1 + 1] : 0u);",
    ),
    "air.get_size_visible_function_table": ("i32", 1, _TABLE + "return t ? t[0] : 0u;"),
    "air.is_null_visible_function_table": ("i1", 1, "return p0 == 0;"),
}


def table_body(function: AirFunction) -> Body | None:
    """A function on tables of functions; None for one that is not known."""
    if function.operation.startswith("get_null"):
        return nothing(function)
    result, count, code = _FUNCTIONS.get(function.name, ("", 0, ""))
    if (function.result, len(function.parameters)) != (result, count):
        return None
    return flattened(function, code, handles=True)


def references(text: str) -> list[str]:
    """Names of the visible functions that a module calls."""
    return list(dict.fromkeys(found["name"] for found in _REFERENCE.finditer(text)))


def with_functions(
    text: str, tables: Sequence[str], text_of: Callable[[str], tuple[str, str] | None]
) -> str:
    """A module with the visible functions that it calls, or that tables may hold (`tables`).

    `text_of` gives a function's symbol and module by its name, or None if there is none: calling
    it reads from no memory.

    Raises:
        AirFormatError: if they do not fit together.
    """
    if not tables and _SUFFIX not in text and "_visible_function_table" not in text:
        return text
    found: dict[str, tuple[str, str]] = {}
    missing: set[str] = set()
    waiting = [*tables, *references(text)]
    while waiting:
        name = waiting.pop()
        if name in found or name in missing:
            continue
        each = text_of(name)
        if each is None:
            missing.add(name)
        else:
            found[name] = each
            waiting += references(each[1])
    if found:
        text = _together(text, found)
    return _switched(_without(_named(text, found), missing), [_own(name) for name in tables])


def _own(name: str) -> str:
    return f"@assay.visible.{name}"


def _named(text: str, known: Iterable[str]) -> str:
    """A module in which references have the names of definitions."""
    names = frozenset(known)
    return _REFERENCE.sub(
        lambda found: _own(found["name"]) if found["name"] in names else found[0], text
    )


def _together(text: str, found: Mapping[str, tuple[str, str]]) -> str:
    """One module of a kernel's and those of visible functions."""
    parts = []
    try:
        for name, (symbol, module) in found.items():
            renamed = re.sub(rf"{re.escape(symbol)}(?![\w.$\"])", _own(name), module)
            with module_of(_named(renamed, found)) as loaded:
                parts.append(bytes(loaded.as_bitcode()))
        with module_of(linked(_named(text, found), parts)) as whole:
            return str(whole)
    except RuntimeError as error:
        raise AirFormatError(f"its visible functions do not fit: {error}") from None


def _without(text: str, missing: Iterable[str]) -> str:
    """A module in which functions that nobody linked read from no memory."""
    names = {f"@{name}{_SUFFIX}" for name in missing}

    def defined(found: re.Match[str]) -> str:
        if found["name"].replace('"', "") not in names:
            return found[0]
        taken = ", ".join(_type(each) for each in _split(found["taken"]))
        return _function(_type(found["head"]), found["name"], taken, "")

    return _DECLARED.sub(defined, text)


def _switched(text: str, tables: Sequence[str]) -> str:
    """A module whose indirect calls are switches over the functions of tables."""
    switches: dict[str, str] = {}
    kinds = {name: _signature(text, name) for name in tables}
    parts, at = [], 0
    for found in _CALL.finditer(text):
        end = _closing(text, found.end())
        given = _split(text[found.end() : end])
        result, taken = _type(found["head"]), [_type(each) for each in given]
        key = f"{result} ({', '.join(taken)})"
        name = f"@assay.indirect.{len(switches)}"
        if key not in switches:
            switches[key] = name
        passed = ", ".join([f"ptr {found['called']}", *given])
        parts += [text[at : found.start()], found["result"]]
        parts.append(f"call {result} {switches[key]}({passed})")
        at = end + 1
    whole = "".join([*parts, text[at:]])
    return "\n".join([whole, *(_switch(name, key, kinds) for key, name in switches.items())])


def _switch(name: str, key: str, kinds: Mapping[str, str]) -> str:
    """A function that calls that of a number, if it is of a type."""
    result, _, rest = key.partition(" (")
    taken = _split(rest[:-1])
    passed = ", ".join(f"{kind} %a{at}" for at, kind in enumerate(taken))
    fitting = [(at, each) for at, each in enumerate(kinds, 1) if kinds[each] == key]
    cases = " ".join(f"i64 {number}, label %c{number}" for number, _ in fitting)
    body = f"  %n = ptrtoint ptr %f to i64\n  switch i64 %n, label %none [ {cases} ]\n"
    for number, each in fitting:
        call = f"call {result} {each}({passed})"
        answer = f"  {call}\n  ret void\n"
        if result != "void":
            answer = f"  %r{number} = {call}\n  ret {result} %r{number}\n"
        body += f"c{number}:\n{answer}"
    return _function(result, name, ", ".join(filter(None, ["ptr %f", passed])), f"{body}none:\n")


def _function(result: str, name: str, taken: str, body: str) -> str:
    """A function that reads from no memory at its end."""
    end = "  ret void\n" if result == "void" else f"  ret {result} zeroinitializer\n"
    return f"define internal {result} {name}({taken}) alwaysinline {{\n{body}{_NULL}{end}}}\n"


def _signature(text: str, name: str) -> str:
    found = re.search(
        rf"^define (?P<head>[^@\n]*){re.escape(name)}\((?P<taken>.*?)\) [^\n)]*\{{$", text, re.M
    )
    if found is None:
        raise AirFormatError(f"there is no visible function {name}")
    taken = ", ".join(_type(each) for each in _split(found["taken"]))
    return f"{_type(found['head'])} ({taken})"


def _type(text: str) -> str:
    """The type that a parameter begins with, or that is before a function's name."""
    found = _TYPE.findall(re.sub(r"\b(?:range|captures|memory|nofpclass)\([^)]*\)", "", text))
    if not found:
        raise AirFormatError(f"a type is not understood: {text.strip()}")
    return str(found[0])


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that is open at `start` closes."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    raise AirFormatError("a call does not end")


def _split(text: str) -> list[str]:
    """The parts between commas that are not inside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "(<{[") - (letter in ")>}]")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []

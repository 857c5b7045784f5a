"""Compound kernels: stages fused into one entry point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from assay.hw.apple.facts.limits import limits

from ..errors import FoundryError
from ..structs.declare import name_fault
from .arguments import Argument, Output, member, spelled
from .callers import line_of_caller, shown
from .declared import HEAD, Declared, refuse_defined_again, structs_of
from .epilogues import Epilogue
from .includes import Included
from .stages import Main, PolicyStage, Stage, TemplateStage, ThreadgroupArray

_POSITIONS = (
    ("uint3", "gid", "threadgroup_position_in_grid"),
    ("uint3", "lid", "thread_position_in_threadgroup"),
    ("uint3", "tptg", "threads_per_threadgroup"),
    ("uint", "simdgroup_index", "simdgroup_index_in_threadgroup"),
    ("uint", "lane", "thread_index_in_simdgroup"),
)
_INDENT = "    "


class Compound(Declared):
    """A kernel of stages: prologues, one main stage, epilogues.

    Buffers 0 and 1 belong to a policy, where there is one; all others follow in the order of
    stages. Threadgroup memory is allocated in the entry point. `gid`, `lid`, `tptg`,
    `simdgroup_index` and `lane` are there for every stage.

    Raises:
        FoundryError: by the name of the rule that stages break.
    """

    def __init__(
        self,
        name: str,
        *,
        main: Main,
        prologue: Sequence[Stage] = (),
        epilogue: Sequence[Epilogue] = (),
        include: Sequence[Path] = (),
    ) -> None:
        self.stages: tuple[Stage, ...] = (*prologue, main, *epilogue)
        self._main, self._epilogue = main, tuple(epilogue)
        place = line_of_caller()
        where = f"{name} ({place})" if place else name
        _check_main(where, prologue, main)
        _check_name(where, name)
        arguments = self._arguments(where)
        _check_memory(where, self.stages)
        arrays = tuple(chain.from_iterable(each.threadgroup for each in self.stages))
        included = Included(tuple(include))
        own = "\n".join(dict.fromkeys(stage.text(included) for stage in self.stages))
        structs = structs_of(arguments.values(), name)
        refuse_defined_again(own, structs)
        entry = "\n".join(self._entry(name, arguments, arrays))
        parts = [HEAD, *(each.text for each in structs), own, f'#line 1 "{name}.metal"\n{entry}\n']
        super().__init__(name, arguments, "\n".join(parts))

    def _arguments(self, where: str) -> dict[str, Argument]:
        """Of all stages, in the order of their buffers. Raises FoundryError."""
        owners: dict[str, Stage] = {}
        found: dict[str, Argument] = {}
        # A policy's buffers come first, wherever it stands.
        ordered = sorted(self.stages, key=lambda each: not isinstance(each, PolicyStage))
        for stage in ordered:
            for each, argument in stage.arguments.items():
                _check_name(f"{where}: {shown(stage)}", each)
                if each in owners:
                    raise FoundryError(
                        "stage-buffers",
                        f"{where}: {shown(owners[each])} and {shown(stage)} both have an argument "
                        f"{each}",
                    )
                owners[each], found[each] = stage, argument
        most = limits().buffers_per_stage
        if len(found) > most:
            raise FoundryError(
                "stage-buffers",
                f"{where}: its stages have {len(found)} buffers, {', '.join(found)}; a kernel has "
                f"at most {most}",
            )
        if not any(isinstance(each, Output) for each in found.values()):
            raise FoundryError(
                "stage-output",
                f"{where}: none of its stages has an output: {', '.join(map(shown, self.stages))}",
            )
        is_template = isinstance(self._main, TemplateStage)
        if is_template and not any(isinstance(each, PolicyStage) for each in self.stages):
            raise FoundryError(
                "stage-policy", f"{where}: no stage provides {shown(self._main)} with a policy"
            )
        return found

    def _entry(
        self, name: str, arguments: dict[str, Argument], arrays: Sequence[ThreadgroupArray]
    ) -> Iterator[str]:
        """The entry point, line by line."""
        if self._main.with_epilogue:
            yield from self._epilogue_type()
        parameters = [
            f"{spelled(each, argument)} [[buffer({index})]]"
            for index, (each, argument) in enumerate(arguments.items())
        ]
        parameters += [f"{kind} {each} [[{position}]]" for kind, each, position in _POSITIONS]
        yield f"kernel void {name}("
        yield ",\n".join(f"{_INDENT}{each}" for each in parameters)
        yield ") {"
        for array in arrays:
            aligned = f"alignas({array.alignment}) " if array.alignment else ""
            yield f"{_INDENT}{aligned}threadgroup {array.element} {array.name}[{array.count}];"
        yield from (f"{_INDENT}{line}" for line in self._body())
        yield "}"

    def _body(self) -> Iterator[str]:
        if self._main.with_epilogue:
            taken = [each for stage in self._epilogue for each in stage.arguments]
            yield f"const Epilogue epilogue = {{{', '.join(taken)}}};"
        elif self._main.result is not None:
            yield f"const uint at = {self._main.result.at};"
        variable: str | None = None
        chained = self.stages[: -len(self._epilogue)] if self._epilogue else self.stages
        for stage in chained if self._main.with_epilogue else self.stages:
            emitted = stage.emit(variable)
            variable = emitted.variable
            yield from emitted.lines
        if self._main.result is not None:
            yield f"if ({self._main.result.when}) {{"
            yield f"{_INDENT}{self._output}[at] = {variable};"
            yield "}"

    def _epilogue_type(self) -> Iterator[str]:
        """What the main stage calls for each value: all epilogues, with their buffers."""
        yield "struct Epilogue {"
        for stage in self._epilogue:
            for name, argument in stage.arguments.items():
                yield f"{_INDENT}{member(name, argument)};"
        yield f"{_INDENT}float operator()(float value, uint at, uint column) const {{"
        for stage in self._epilogue:
            yield f"{_INDENT * 2}value = {stage.call('value', 'column')};"
        yield f"{_INDENT * 2}return value;"
        yield f"{_INDENT}}}"
        yield f"{_INDENT}float operator()(float value, uint at) const {{"
        yield f"{_INDENT * 2}return (*this)(value, at, at);"
        yield f"{_INDENT}}}"
        yield "};\n"

    @property
    def _output(self) -> str:
        arguments = self._main.arguments
        return next(name for name, each in arguments.items() if isinstance(each, Output))


def _check_main(where: str, prologue: Sequence[Stage], main: Stage) -> None:
    """Stages in front of the main one store no result and take no epilogues."""
    if not hasattr(main, "with_epilogue"):
        raise FoundryError("stage-main", f"{where}: {shown(main)} is no main stage")
    for each in prologue:
        if getattr(each, "result", None) is not None or getattr(each, "with_epilogue", False):
            raise FoundryError(
                "stage-main",
                f"{where}: {shown(each)} is a main stage, and so is {shown(main)}; a kernel has "
                "one",
            )


def _check_name(where: str, name: str) -> None:
    """Of a kernel, an argument or threadgroup memory."""
    fault = name_fault(name)
    if any(name == each for _, each, _ in _POSITIONS):
        fault = "taken by the kernel's own arguments"
    if fault:
        raise FoundryError("kernel-name", f"{where}: {name!r} is {fault}")


def _check_memory(where: str, stages: Sequence[Stage]) -> None:
    owners: dict[str, Stage] = {}
    for stage in stages:
        for array in stage.threadgroup:
            _check_name(f"{where}: {shown(stage)}", array.name)
            if owner := next((each for each in stages if array.name in each.arguments), None):
                raise FoundryError(
                    "stage-threadgroup",
                    f"{where}: {array.name} is an argument of {shown(owner)}, and threadgroup "
                    f"memory of {shown(stage)}",
                )
            if array.name in owners:
                raise FoundryError(
                    "stage-threadgroup",
                    f"{where}: {shown(owners[array.name])} and {shown(stage)} both have "
                    f"threadgroup memory {array.name}",
                )
            owners[array.name] = stage
    arrays = [(stage, array) for stage in stages for array in stage.threadgroup]
    total, most = sum(array.size for _, array in arrays), limits().threadgroup_memory
    if total > most:
        parts = ", ".join(f"{array.name} {array.size} of {shown(stage)}" for stage, array in arrays)
        raise FoundryError(
            "stage-threadgroup",
            f"{where}: its stages have {total} bytes of threadgroup memory, {parts}; a "
            f"threadgroup has {most}",
        )

"""`--split auto`: which device does what, by what each can do and by predicted times.

A region of the NPU is taken whole or not at all. For each choice of regions the other groups are
balanced between the other devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from assay.compiler.graph.symbolic.graph import Forward, Graph, Operator
from assay.compiler.models import ModelError
from assay.compiler.module.balance import Balance, Piece, balanced
from assay.compiler.module.groups import Group
from assay.compiler.module.source import Source
from assay.compiler.module.split import split_text
from assay.hw.apple.facts.chips import Chip

from .npu import NpuPrograms
from .times import GpuTimes, Ranges, Sizes, cpu_seconds, links
from .together import Together, with_npu, without_npu

Say = Callable[[str], None]
NPU = "torq"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Choice:
    """A way to do a graph, its groups with their times, and who does each."""

    together: Together
    groups: Sequence[Group]
    pieces: Sequence[Piece]
    balance: Balance


class AutoSplit:
    """Splits graphs for some devices, the preferred one first; times are those of `chip`."""

    def __init__(
        self,
        devices: Sequence[str],
        chip: Chip,
        programs: NpuPrograms,
        say: Say,
        report: Say,
        *,
        cache: bool,
    ) -> None:
        self._devices, self._chip, self._programs = tuple(devices), chip, programs
        self._links = links(self._devices, chip)
        self._gpu = GpuTimes(chip, say, cache=cache)
        self._report = report
        self._not_on_gpu: dict[str, str] = {}
        """Operators that cannot be compiled for the GPU, and why."""

    def split(self, source: Source, graph: Graph, ranges: Ranges) -> Together:
        """The best that was found, and a report of it. Raises ModelError."""
        sizes = Sizes(graph, ranges)
        if NPU not in self._devices:
            best = self._choice(without_npu(source, graph, lambda _: 0), sizes)
            self._tell(best, ())
            return self._made(best)
        npu = self._devices.index(NPU)

        def chosen(operators: set[Operator] | None) -> _Choice:
            other = (npu + 1) % len(self._devices)

            def side(operator: Operator) -> int:
                return npu if operators is None or operator in operators else other

            following = other if len(self._devices) > 1 else None
            made = with_npu(source, graph, side, npu, following, self._programs)
            return self._choice(made, sizes)

        first = best = chosen(None)
        regions = [set(group.operators) for group in first.groups if self._is_npu(first, group)]
        if regions and len(self._devices) > 1:
            best = min(best, chosen(set()), key=_seconds)
        for left_out in regions if len(regions) > 1 else ():
            kept = set().union(*self._regions(best)) - left_out
            best = min(best, chosen(kept), key=_seconds)
        self._tell(best, [str(refusal) for refusal in first.together.refused])
        return self._made(best)

    def text(self, graph: Graph, made: Together) -> str:
        """What was chosen as a file that says the same; dequantisers that only a region does are
        the NPU's."""
        groups = made.devices.items()
        placed = {operator: device for group, device in groups for operator in group.operators}
        operators = [step for step in graph.steps if isinstance(step, Operator)]
        npu = self._devices.index(NPU) if NPU in self._devices else 0
        return split_text({each: placed.get(each, npu) for each in operators}, self._devices)

    def _made(self, choice: _Choice) -> Together:
        devices = dict(zip(choice.groups, choice.balance.devices, strict=True))
        return replace(choice.together, devices=devices)

    def _is_npu(self, choice: _Choice, group: Group) -> bool:
        return self._devices[choice.together.devices[group]] == NPU

    def _regions(self, choice: _Choice) -> Iterator[set[Operator]]:
        for group in choice.groups:
            if self._is_npu(choice, group):
                yield set(group.operators)

    # Times.

    def _choice(self, made: Together, sizes: Sizes) -> _Choice:
        """A way to do it, balanced. Raises ModelError for what no device can do."""
        groups = [step for step in made.steps if isinstance(step, Group)]
        rest = [group for group in groups if self._devices[made.devices[group]] != NPU]
        if "metal" in self._devices:
            self._gpu.predict([made.kernels[group] for group in rest], sizes)
            for group in rest:
                if (why := self._gpu.refused.get(made.kernels[group].entry)) is not None:
                    self._not_on_gpu[_named(group)] = why
        views = {step.target: step.source for step in made.steps if isinstance(step, Forward)}
        pieces = [self._piece(group, made, sizes, views) for group in groups]
        return _Choice(
            together=made, groups=groups, pieces=pieces, balance=balanced(pieces, self._links)
        )

    def _piece(self, group: Group, made: Together, sizes: Sizes, views: dict[str, str]) -> Piece:
        kernel = made.kernels[group]
        on_npu = self._devices[made.devices[group]] == NPU
        times = []
        for device in self._devices:
            if on_npu or device == NPU:
                both = on_npu and device == NPU
                times.append(self._programs.of(kernel).seconds if both else inf)
            elif device == "metal":
                times.append(self._gpu.seconds(kernel))
            else:
                times.append(cpu_seconds(group, kernel, sizes))
        if min(times) == inf:
            why = self._not_on_gpu.get(_named(group), "none of the devices can")
            raise ModelError(f"split: nothing does {_named(group)}: {why}")
        reads = [name for name in kernel.arguments if not sizes.is_constant(name)]
        return Piece(
            times=tuple(times),
            reads=tuple((_root(name, views), sizes.bytes(name)) for name in reads),
            gives=kernel.outputs,
        )

    # The report.

    def _tell(self, best: _Choice, refused: Sequence[str]) -> None:
        for text in refused:
            self._report(f"not on {NPU}: {text}")
        for operators, why in self._not_on_gpu.items():
            self._report(f"not on metal: {operators}: {why}")
        for number, device in enumerate(self._devices):
            mine = [
                piece.times[number]
                for piece, chosen in zip(best.pieces, best.balance.devices, strict=True)
                if chosen == number
            ]
            self._report(f"on {device}: {len(mine)} kernels, {_ms(sum(mine))}")
        self._report(f"predicted for a run on {self._chip.name}: {_ms(best.balance.seconds)}")


def _seconds(choice: _Choice) -> float:
    return choice.balance.seconds


def _root(name: str, views: dict[str, str]) -> str:
    while name in views:
        name = views[name]
    return name


def _named(group: Group) -> str:
    return " and ".join(f"{each.node.op_type} {each.name}" for each in group.operators)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"

"""One emulated slice: tensors go in and out, slice tasks run from their words."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from assay.compiler.torq.slice.lram import Lram as Layout
from assay.compiler.torq.slice.tensor import Tensor
from assay.hw.torq.check.declared import Reach, deviations
from assay.hw.torq.datapath.cycles import SliceCycles, cycles_of
from assay.hw.torq.datapath.footprint import touched, unmoved
from assay.hw.torq.datapath.interpreter import Counts, Interpreter, count
from assay.hw.torq.datapath.plan import SlicePlan, plan_task
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.lram import Lram
from assay.hw.torq.words.commands import SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode, memory_image

Array = NDArray[np.generic]
SPECIAL = (np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-18, -1e-18, 1.5, -2.5)
"""Floats that are not like others. IREE makes zeros of numbers below 1e-38: there are none."""
SIZE = 512 << 10
CODE = 0x500
DATA = 0x2000
_CONFIGURE, _SYNCHRONISE = 1, 6


class Machine:
    """LRAM with a layout for it, and the datapath of a slice."""

    def __init__(self, *, noise: bool = False) -> None:
        """With `noise`, memory holds something before anyone writes to it."""
        self.lram = Lram(SIZE)
        if noise:
            self.lram.write(0, np.random.default_rng(SIZE).bytes(SIZE))
        self.layout = Layout(DATA, SIZE)
        self.counts: list[Counts] = []
        self.cycles: list[SliceCycles] = []
        self._slice = Interpreter()
        self._given: list[Tensor] = []

    def give(self, name: str, values: Array, *, planes: bool = False) -> Tensor:
        """A tensor that holds `values`."""
        place = self.layout.planes if planes else self.layout.tensor
        tensor = place(name, str(values.dtype), values.shape)
        self._given.append(tensor)
        for index in np.ndindex(*values.shape[:-1]):
            self.lram.write(_address(tensor, index), np.ascontiguousarray(values[index]).tobytes())
        return tensor

    def room(self, name: str, dtype: str, shape: Sequence[int], *, planes: bool = False) -> Tensor:
        """A tensor for results, in memory that holds something else."""
        place = self.layout.planes if planes else self.layout.tensor
        tensor = place(name, dtype, tuple(shape))
        self.lram.write(tensor.address, b"\xa5" * tensor.size)
        return tensor

    def take(self, tensor: Tensor) -> Array:
        """What a tensor holds."""
        dtype = np.dtype(ml_dtypes.bfloat16 if tensor.dtype == "bfloat16" else tensor.dtype)
        raw = self.lram.bytes[tensor.address : tensor.address + tensor.size]
        view = np.lib.stride_tricks.as_strided(
            np.frombuffer(raw.tobytes(), dtype), tensor.shape, tensor.strides
        )
        return view.copy()

    def run(self, tasks: Sequence[SliceTask]) -> None:
        """Encode each task, put its words into LRAM, decode and run them.

        Their descriptors must touch what the nest that they were derived from touches, and inputs,
        constants, and what is between tensors and planes must be as before.
        """
        for constant in self.layout.constants:
            self.lram.write(constant.address, constant.data)
        before = np.array(self.lram.bytes)
        for task in tasks:
            words = memory_image(encode(SliceProgram(tasks=(task,), address=CODE)))
            assert max(words) < DATA
            for address, word in words.items():
                self.lram.write(address, int(word).to_bytes(4, "little"))
            plan = plan_task(self._registers(), self.lram)
            self._compare_with_nest(task, plan)
            self.counts.append(count(plan))
            self.cycles.append(cycles_of(plan, self.counts[-1], sl2610()))
            self._slice.run(plan, self.lram)
        changed = np.flatnonzero(before != self.lram.bytes)
        wrong = changed[~self._results()[changed]]
        assert not wrong.size, f"the kernel wrote to {[hex(at) for at in wrong[:9]]}"

    def _results(self) -> NDArray[np.bool_]:
        """For each byte of LRAM, whether a kernel may write it."""
        free = np.zeros(SIZE, bool)
        free[:DATA] = True
        for start, stop, _ in self.layout.places:
            free[start:stop] = True
        for tensor in self._given:
            free[tensor.address : tensor.address + tensor.size] = False
        for constant in self.layout.constants:
            free[constant.address : constant.address + len(constant.data)] = False
        for start, stop in self.layout.padding:
            free[start:stop] = False
        return free

    def _compare_with_nest(self, task: SliceTask, plan: SlicePlan) -> None:
        origins = unmoved(plan)
        reaches = [
            Reach(agent=agent, memory="LRAM", ranges=ranges, unmoved=origins.get(agent, ()))
            for agent, _, _, ranges in touched(plan, self.lram.bytes)
        ]
        if task.note is not None:
            assert list(deviations(task.note, reaches)) == []

    def _registers(self) -> dict[int, int]:
        """What the command words at CODE write into registers."""
        found: dict[int, int] = {}
        at = CODE
        while True:
            word = self.lram.word(at)
            assert word >> 28 & 7 in (_CONFIGURE, _SYNCHRONISE)
            at += 4
            if word >> 28 & 7 == _CONFIGURE:
                for step in range(word >> 16 & 0xFFF):
                    found[(word & 0xFFFF) + 4 * step] = self.lram.word(at)
                    at += 4
            if word >> 31:
                return found


def _address(tensor: Tensor, index: tuple[int, ...]) -> int:
    return tensor.address + sum(
        i * stride for i, stride in zip(index, tensor.strides, strict=False)
    )


def numbers(seed: int, shape: Sequence[int], dtype: str, *, bound: int | None = None) -> Array:
    """Seeded numbers of a type, of its whole range or up to `bound`."""
    chance = np.random.default_rng(seed)
    if dtype == "bfloat16":
        return chance.standard_normal(tuple(shape)).astype(ml_dtypes.bfloat16)
    info = np.iinfo(dtype)
    high = int(info.max) if bound is None else min(int(info.max), bound)
    low = int(info.min) if bound is None else max(int(info.min), -bound)
    return chance.integers(low, high, tuple(shape), endpoint=True).astype(dtype)

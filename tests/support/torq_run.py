"""Runs slice tasks the way a slice does: encoded to words, then decoded from LRAM."""

from collections.abc import Mapping

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.datapath.interpreter import Counts, Interpreter, count
from assay.hw.torq.datapath.plan import SlicePlan, plan_task
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.lram import Lram
from assay.hw.torq.words.commands import SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode, memory_image

CODE = 0x500


def load(task: SliceTask, data: Mapping[int, NDArray[np.generic]]) -> Lram:
    """LRAM with a task's words from CODE on, and data at addresses."""
    lram = Lram(sl2610().lram)
    for address, word in memory_image(encode(SliceProgram(tasks=(task,), address=CODE))).items():
        lram.write(address, word.to_bytes(4, "little"))
    for address, values in data.items():
        lram.write(address, np.ascontiguousarray(values).tobytes())
    return lram


def register_words(lram: Lram, pc: int = CODE) -> dict[int, int]:
    """What the first task's CFG commands write."""
    words: dict[int, int] = {}
    while True:
        word = lram.word(pc)
        pc += 4
        if word >> 28 & 7 == 1:
            for k in range(word >> 16 & 0xFFF):
                words[(word & 0xFFFF) + 4 * k] = lram.word(pc)
                pc += 4
        if word >> 31:
            return words


def plan(task: SliceTask, data: Mapping[int, NDArray[np.generic]]) -> tuple[SlicePlan, Lram]:
    lram = load(task, data)
    return plan_task(register_words(lram), lram), lram


def run(
    task: SliceTask, data: Mapping[int, NDArray[np.generic]], *, fast: bool = True
) -> tuple[Lram, Counts]:
    """LRAM after a task, and what it moved."""
    decoded, lram = plan(task, data)
    counts = count(decoded)
    Interpreter().run(decoded, lram, fast=fast)
    return lram, counts


def results(lram: Lram, address: int, count: int, kind: type[np.generic]) -> NDArray[np.generic]:
    return np.frombuffer(lram.read(address, count * np.dtype(kind).itemsize), kind)


def bfloat(values: NDArray[np.generic]) -> NDArray[np.uint16]:
    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)


def unbfloat(bits: NDArray[np.generic]) -> NDArray[np.float32]:
    return np.asarray(bits).astype(np.uint32).__lshift__(16).view(np.float32)

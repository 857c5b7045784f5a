"""Programs of the NSS that end before the network does: nothing is under way, LRAM keeps it all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.torq.ends import with_ends
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import scheduled
from assay.compiler.torq.schedule.options import Options
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.format import StartNss, WaitNss
from assay.hal.torq.listing.module import executable_of, module_of
from assay.hal.torq.pack import pack
from assay.hal.torq.write import write_executable
from assay.hw.torq.words.commands import NssTask
from tests.compiler.graph import models

from .running import assert_exact_and_clean, lowered

needs_importer = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
Flags = tuple[bool, bool, bool, bool]


def _starts(task: NssTask) -> Flags:
    return (task.dma_xr_start, task.dma_xw_start, *task.slc_start)


def _waits(task: NssTask) -> Flags:
    return (task.dma_xr_wait, task.dma_xw_wait, *task.slc_wait)


def _task(starts: Flags, waits: Flags) -> NssTask:
    return NssTask(
        dma_xr_start=starts[0],
        dma_xw_start=starts[1],
        slc_start=starts[2:],
        dma_xr_wait=waits[0],
        dma_xw_wait=waits[1],
        slc_wait=waits[2:],
    )


@st.composite
def _groups(draw: st.DrawFn) -> list[list[NssTask]]:
    """Blocks of tasks that start what is idle and wait for what is busy; all is done at the end."""
    busy = [False] * 4
    tasks = []
    for _ in range(draw(st.integers(1, 20))):
        starts = [not busy[unit] and draw(st.booleans()) for unit in range(4)]
        busy = [a or b for a, b in zip(busy, starts, strict=True)]
        waits = [busy[unit] and draw(st.booleans()) for unit in range(4)]
        busy = [a and not b for a, b in zip(busy, waits, strict=True)]
        tasks.append(_task(tuple(starts), tuple(waits)))
    tasks.append(_task((False,) * 4, tuple(busy)))
    size = draw(st.integers(1, 6))
    return [tasks[first : first + size] for first in range(0, len(tasks), size)]


@given(_groups(), st.integers(1, 4))
def test_nothing_is_under_way_at_an_end_and_all_waits_end(
    groups: list[list[NssTask]], count: int
) -> None:
    made = with_ends(groups, count)
    assert [[_starts(t) for t in g] for g in made] == [[_starts(t) for t in g] for g in groups]
    busy = dict.fromkeys(range(4), False)
    for number, group in enumerate(made):
        for task in group:
            for unit in range(4):
                assert not (busy[unit] and _starts(task)[unit])
                busy[unit] |= _starts(task)[unit]
                assert busy[unit] or not _waits(task)[unit]
                busy[unit] &= not _waits(task)[unit]
        assert (number + 1) % count or not any(busy.values())
    assert not any(busy.values())


@needs_importer
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_network_of_several_programs_is_exact_and_clean(blocks: int, folder: Path) -> None:
    inputs, expected = models.reference("int16_cnn", folder)
    program = lowered(models.imported("int16_cnn", folder), Options(program_blocks=blocks))
    assert len(program.starts) == -(-program.blocks // blocks) > 2
    assert_exact_and_clean(program, inputs, expected)


@needs_importer
def test_the_host_starts_each_program_where_its_first_block_was_loaded(folder: Path) -> None:
    module = models.imported("small", folder)
    run_passes(module, usual_passes())
    program = scheduled(module, Options(program_blocks=1)).program
    executable = pack(program, "network")
    starts = [action for action in executable.actions if isinstance(action, StartNss)]
    assert [start.address for start in starts] == [0, 0x280, 0][: program.blocks]
    assert [type(action) for action in executable.actions[1:]] == [StartNss, WaitNss] * len(starts)
    again = executable_of(module_of(executable))
    assert write_executable(again) == write_executable(executable)
    assert list(LoadedExecutable(again).buffer_sizes().values()) == [256, 10]

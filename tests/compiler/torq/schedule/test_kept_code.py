"""Commands that are used again are loaded once, if their bytes can be kept so long."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.tensors import Region
from assay.compiler.torq.schedule.kept_code import with_code_kept
from assay.compiler.torq.schedule.options import Options
from assay.compiler.torq.schedule.overlap import overlapped
from assay.compiler.torq.schedule.steps import (
    Buffer,
    LoadCode,
    LoadTile,
    Plan,
    RunSlice,
    Start,
    Wait,
)
from assay.compiler.torq.slice.tensor import Tensor
from tests.compiler.graph import models
from tests.models.tflite.network import Network

from .by_hand import buffer, load, run, storage, store
from .running import assert_file_is_exact_and_clean

Place = tuple[int, int]


class _Kernel:
    """One whose commands are the addresses of its tensors."""

    name = "by hand"

    def emit(self, op: Operator, out: Region, places: Mapping[str, Tensor]) -> list[Any]:
        return [sorted((name, tensor.address) for name, tensor in places.items())]


def _tiles(count: int, size: int, cycles: int, slices: int) -> list[Start]:
    """Tiles that are loaded, computed by each slice, and stored."""
    x, y = storage("x", count * size), storage("y", count * size * slices)
    kernel, steps = _Kernel(), list[Start]()
    for number in range(count):
        read = buffer(f"x{number}", size)
        steps.append(load(x, read, number * size))
        for slice_ in range(slices):
            made = buffer(f"y{number}", size)
            steps += run(slice_, cycles, [read], made, kernel)
            steps.append(store(made, y, (number * slices + slice_) * size))
    return steps


def _commands(run: RunSlice, plan: Plan) -> list[Any]:
    places = {name: spot.at(plan.addresses) for name, spot in run.places.items()}
    return run.kernel.emit(run.op, run.out, places)


def _bytes_of(one: Buffer, plan: Plan) -> Place:
    return plan.addresses[one], plan.addresses[one] + one.size


def _writes(step: Start) -> Buffer | None:
    if isinstance(step, LoadCode):
        return step.run.code
    if isinstance(step, RunSlice):
        return step.places["y"].buffer
    return step.buffer if isinstance(step, LoadTile) else None


def _assert_commands_are_there(plan: Plan) -> None:
    """Where a run finds its commands, the last thing written is what was loaded for one like it."""
    waited = {s.token: n for n, s in enumerate(plan.steps) if isinstance(s, Wait)}
    started = {s: n for n, s in enumerate(plan.steps) if not isinstance(s, Wait)}
    for one in [step for step in started if isinstance(step, RunSlice)]:
        first, end = _bytes_of(one.code, plan)
        writers = [
            step
            for step, number in started.items()
            if number < waited[one] and (written := _writes(step)) is not None
            if _bytes_of(written, plan)[0] < end and first < _bytes_of(written, plan)[1]
        ]
        last = writers[-1]
        assert isinstance(last, LoadCode) and waited[last] < started[one]
        assert plan.addresses[last.run.code] == first
        assert _commands(last.run, plan) == _commands(one, plan)


@given(
    st.integers(1, 14),
    st.sampled_from([64, 8000, 40_000, 60_000]),
    st.integers(1, 30_000),
    st.integers(1, 2),
)
def test_every_run_finds_its_commands(count: int, size: int, cycles: int, slices: int) -> None:
    plan = overlapped(_tiles(count, size, cycles, slices))
    kept = with_code_kept(plan)
    _assert_commands_are_there(kept)
    assert {s for s in plan.steps if isinstance(s, RunSlice)} <= set(kept.steps)


def test_what_comes_back_to_the_same_places_is_loaded_once() -> None:
    plan = overlapped(_tiles(12, 100_000, 20_000, 1))
    loads = [s for s in with_code_kept(plan).steps if isinstance(s, LoadCode)]
    assert len({str(_commands(s.run, plan)) for s in loads}) == len(loads) < 12


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_tiles_share_commands_and_are_exact_and_clean(tmp_path: Path) -> None:
    net = Network(3)
    one, other = (net.input((1, 64, 64, 8)) for _ in range(2))
    path = tmp_path / "network.tflite"
    path.write_bytes(net.finish(net.binary("ADD", one, other)))
    small = Options(hardware="40:2:coral_v1:nss_v1")
    program = assert_file_is_exact_and_clean(path, small)
    loads = [t for t in program.notes.transfers if t.operation == "load slice code"]
    assert len(loads) < 0.5 * len(program.notes.slice_runs)

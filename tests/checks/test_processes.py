"""Kernels of one text that are checked by several processes."""

from __future__ import annotations

import pytest

from assay.checks import pool, processes
from assay.checks.inputs import Inputs
from assay.checks.processes import Task, check_in_processes
from assay.checks.source import SourceOptions

KERNELS = "".join(
    f"kernel void k{number}(device float *x, uint i [[thread_position_in_grid]]) {{ x[i] = 1; }}\n"
    for number in range(2)
)


def test_a_process_that_has_taken_much_memory_is_followed_by_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = 0

    class Counted(pool.Worker[str]):
        def __init__(self, *arguments: object) -> None:
            nonlocal started
            started += 1
            super().__init__(*arguments)  # type: ignore[arg-type]

    code = (
        "import assay.checks.pool as pool, assay.checks.processes as them; "
        "pool.MOST_MEMORY = {}; them.work()"
    )
    monkeypatch.setattr(pool, "Worker", Counted)
    task = Task(
        source=KERNELS,
        file_name="k.metal",
        options=SourceOptions(inputs=Inputs()),
        checks=("bounds",),
        seeds=(),
    )
    for most, expected in ((0, 2), (1 << 40, 1)):
        started = 0
        monkeypatch.setattr(processes, "_WORKER", code.format(most))
        found = dict(check_in_processes(task, ["k0", "k1"], jobs=1, timeout=None))
        assert started == expected
        assert list(found) == ["k0", "k1"]
        for part in found.values():
            (record,) = part.kernels
            assert not record.problem and record.runs

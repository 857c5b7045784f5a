"""What a constant was read off does not count as a prediction made with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from assay.hw.facts import Measure, measure, read_package_file
from benchmarks.validation.cases import Case, Status
from benchmarks.validation.table import cases

FILES = ("chips", "instructions", "memory", "occupancy", "overheads")

# Sources whose numbers are no measurements of time that could stand in the table of rows:
# documents, sizes and clocks, choices. Every number from another source says from which rows it is.
NOT_MEASURED: Mapping[str, frozenset[str]] = {
    "chips": frozenset(
        {
            "feature_set_tables",
            "specifications",
            "metal_benchmarks",
            "applegpuinfo",
            "dvfs",
            "phosphor",
            "chips_and_cheese",
            "neural_accelerators",
            "fft_m6",
            "memory_type",
            "like_m2_pro",
            "like_m2_ultra",
            "stream_class",
            "untraced",
            "note",
        }
    ),
    "instructions": frozenset({"estimate", "mfa", "note"}),
    "memory": frozenset({"fft_m6", "quads", "estimate", "between", "empty", "note"}),
    "occupancy": frozenset({"metal_benchmarks", "mesa", "estimate", "note"}),
    "overheads": frozenset({"metal_benchmarks"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number of a data file and where it stands there."""

    file: str
    path: str
    number: Measure


def _constants(name: str) -> Iterator[Constant]:
    file = read_package_file("assay.hw.apple.facts", f"{name}.toml")

    def walk(value: object, path: str) -> Iterator[Constant]:
        if not isinstance(value, dict):
            return
        if "value" in value:
            yield Constant(file=name, path=path, number=measure(file, path, value))
            return
        for key, item in value.items():
            yield from walk(item, f"{path}.{key}" if path else key)

    yield from walk(dict(file.tables), "")


def _all_constants() -> list[Constant]:
    return [constant for name in FILES for constant in _constants(name)]


def counted_sources(constants: list[Constant], known: Mapping[int, Case]) -> list[str]:
    """Constants that were read off rows that count, with those rows."""
    return [
        f"{c.file}.toml: {c.path} = {c.number.value:g} is from row {row}"
        for c in constants
        for row in c.number.rows or ()
        if known[row].status is Status.COUNTED
    ]


def _by_row() -> dict[int, Case]:
    return {case.row.ident: case for case in cases()}


def test_no_constant_was_read_off_a_row_that_counts() -> None:
    assert not counted_sources(_all_constants(), _by_row())


def test_a_constant_that_was_read_off_a_counted_row_is_found() -> None:
    known = _by_row()
    counted = next(row for row, case in known.items() if case.status is Status.COUNTED)
    number = Measure(value=1, unit="cycle", source="s", confidence="low", rows=(counted,))
    planted = Constant(file="memory", path="apple7.sector", number=number)

    assert counted_sources([planted], known) == [
        f"memory.toml: apple7.sector = 1 is from row {counted}"
    ]


@pytest.mark.parametrize("name", FILES)
def test_every_constant_that_was_measured_says_from_which_rows(name: str) -> None:
    silent = [
        f"{c.path}, from {c.number.source}"
        for c in _constants(name)
        if c.number.source not in NOT_MEASURED[name] and c.number.rows is None
    ]

    assert not silent


def test_the_share_of_bandwidth_that_a_chip_sustains_is_from_rows_of_that_chip() -> None:
    known = _by_row()
    named = {c.path: c.number.rows for c in _constants("chips") if c.number.rows}

    assert named
    for path, rows in named.items():
        assert path.endswith(".sustained")
        chip = path.split(".")[1]
        assert all(known[row].chip.removeprefix(chip) in ("", "-16") for row in rows), path


def test_a_share_that_stands_in_for_another_chip_s_is_the_same() -> None:
    shares = {c.path: c.number for c in _constants("chips") if c.path.endswith(".sustained")}
    stand_ins = [number for number in shares.values() if number.source == "like_m2_ultra"]

    assert stand_ins
    assert {number.value for number in stand_ins} == {shares["chips.m2-ultra.sustained"].value}
    assert all(number.confidence == "low" and not number.rows for number in stand_ins)


def test_a_row_that_the_source_doubts_never_counts() -> None:
    doubted = [case for case in cases() if case.row.note.startswith("author says a later set-up")]
    occupancies = {case.row.workload.rpartition("ILP=")[2][2:] for case in doubted}

    assert occupancies == {"4 simds/core", "8 simds/core", "88 simds/core"}
    assert all(case.status is not Status.COUNTED for case in doubted)
    assert len({case.why for case in doubted}) == 1 and doubted[0].why


def test_chains_of_halves_on_few_simdgroups_count() -> None:
    halves = [
        case
        for case in cases()
        if case.row.workload.startswith("ilp-occupancy/")
        and case.row.metric.endswith("16bit")
        and "88 simds" not in case.row.workload
    ]

    assert len(halves) == 16
    assert {case.status for case in halves} == {Status.COUNTED}


def test_tiles_of_a_sweep_count_whatever_came_out() -> None:
    sweep = [case for case in cases() if case.row.workload.startswith("GEMM tile sweep")]

    assert any(case.row.value < 1 for case in sweep)
    assert {case.status for case in sweep} == {Status.COUNTED}

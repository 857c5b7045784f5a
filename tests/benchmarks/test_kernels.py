"""The benchmark of kernels: which of OpenBLAS's own count, and round by round."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import kernels, openblas
from benchmarks.turns import Measure, by_turns, shares


def _answer(monkeypatch: pytest.MonkeyPatch, runs: set[str]) -> list[str]:
    """Let OpenBLAS run with some values of `OPENBLAS_CORETYPE`; returns those that are tried."""
    tried: list[str] = []

    @contextmanager
    def asked(size: int, threads: int, core: str) -> Iterator[Measure | None]:
        tried.append(core)
        yield (lambda repetitions: 0.01) if core in runs else None

    monkeypatch.setattr(openblas, "_multiplying", asked)
    return tried


@pytest.mark.parametrize("wide", [False, True])
def test_openblas_is_timed_beyond_what_the_environment_sets(
    wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _answer(monkeypatch, {"", "Haswell", "SkylakeX"})
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(openblas, "has_wide_registers", lambda: wide)
    with openblas.openblas(64, threads=1) as found:
        assert tried == ["", "Haswell", *(["SkylakeX"] if wide else [])]
        assert [each.removeprefix("OpenBLAS sgemm, ") for each in found] == [
            "its own choice",
            *tried[1:],
        ]


def test_what_does_not_run_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(monkeypatch, {""})
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    monkeypatch.setattr(openblas, "has_wide_registers", lambda: True)
    with openblas.openblas(64, threads=1) as found:
        assert list(found) == ["OpenBLAS sgemm, its own choice"]
    _answer(monkeypatch, set())
    with pytest.raises(SystemExit, match="could not be measured"), openblas.openblas(64, threads=1):
        pass


def test_a_process_multiplies_each_time_it_is_asked() -> None:
    with openblas.openblas(16, threads=1) as found:
        times = [measure(2) for measure in found.values() for _ in range(2)]
    assert len(times) >= 2 and all(each > 0 for each in times)


def test_a_share_is_that_of_a_round_and_of_the_fastest() -> None:
    answers = {"a": iter([0.02, 0.04, 0.02]), "b": iter([0.01, 0.02, 0.01])}
    peers: dict[str, Measure] = {
        who: lambda _, of=times: next(of)  # type: ignore[misc]
        for who, times in answers.items()
    }
    found = by_turns({"ours": lambda: None}, peers, rounds=3, repetitions=1)
    assert (found["a"], found["b"]) == ([0.02, 0.04, 0.02], [0.01, 0.02, 0.01])
    found["ours"] = [0.02, 0.04, 0.04]
    assert shares(found, "ours", ["a", "b"]) == [0.5, 0.5, 0.25]


def test_the_median_of_all_rounds_is_held_against_the_bar() -> None:
    workload = kernels.matrix_gemm()
    found = {workload.title: [0.02, 0.01, 0.01], "a": [0.01, 0.007, 0.009]}
    row = kernels._of_openblas(workload, found, ["a"])
    assert row.ratio == "70.0% of OpenBLAS (50% to 90%)" and row.passed

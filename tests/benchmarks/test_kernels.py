"""The benchmark of kernels: which of OpenBLAS's own count."""

from collections.abc import Mapping, Sequence

import pytest

from benchmarks import contenders, kernels
from benchmarks.contenders import Timing, openblas_timings


def _answer(monkeypatch: pytest.MonkeyPatch, seconds: Mapping[str, float]) -> list[str]:
    """Let OpenBLAS take so long by `OPENBLAS_CORETYPE`; returns a list of those that are asked."""
    asked: list[str] = []

    def peer(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, float] | None:
        core = environment["OPENBLAS_CORETYPE"]
        asked.append(core)
        return {"seconds": seconds[core]} if core in seconds else None

    monkeypatch.setattr(contenders, "peer", peer)
    return asked


@pytest.mark.parametrize("wide", [False, True])
def test_openblas_is_timed_beyond_what_the_environment_sets(
    wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _answer(monkeypatch, {"": 0.01, "Haswell": 0.02, "SkylakeX": 0.03})
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(contenders, "has_wide_registers", lambda: wide)
    found = openblas_timings(64, threads=1, repetitions=1)
    assert asked == ["", "Haswell", *(["SkylakeX"] if wide else [])]
    assert [each.seconds for each in found] == [0.01, 0.02, 0.03][: len(asked)]
    assert found[0].who == "OpenBLAS sgemm, its own choice"


def test_what_does_not_run_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(monkeypatch, {"": 0.01})
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    monkeypatch.setattr(contenders, "has_wide_registers", lambda: True)
    (found,) = openblas_timings(64, threads=1, repetitions=1)
    assert found.seconds == 0.01
    _answer(monkeypatch, {})
    with pytest.raises(SystemExit, match="could not be measured"):
        openblas_timings(64, threads=1, repetitions=1)


def test_the_fastest_openblas_is_the_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = [Timing(who="a", seconds=0.02), Timing(who="b", seconds=0.01)]
    monkeypatch.setattr(kernels, "on_assay", lambda *_, **__: Timing(who="assay", seconds=0.04))
    monkeypatch.setattr(kernels, "openblas_timings", lambda *_, **__: peers)
    first, unrolled, *others = kernels._against_openblas(1, 1)
    assert first.ratio == unrolled.ratio == "25.0% of OpenBLAS"
    assert unrolled.what == f"{first.what}, unrolled"
    assert [row.who for row in others] == ["a", "b"]

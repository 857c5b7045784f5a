"""The cases that wait for a Mac: all run on the emulated device, and their recordings replay."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from assay.recordings import Limits, recording, replay
from assay.recordings.suite import __main__ as suite
from assay.recordings.suite.cases import cases
from assay.recordings.suite.run import kernel_of, values_of
from assay.recordings.tolerances import read_tolerances

QUICK = (
    "math/exp-half",
    "fast-math/products-float",
    "arithmetic/divide-int",
    "integer/rotate-ushort",
    "convert/float-char",
    "simdgroup/simd_sum-float",
    "atomic/max-int",
    "matrix/multiply-half",
    "matrix/accumulate-bfloat-float",
    "matrix/store-transposed-bfloat",
    "simdgroup/vote-ballot",
    "atomic/compare-other-int",
    "atomic/add-float",
    "arithmetic/divide-bfloat",
    "convert/bfloat-half",
    "barrier/butterfly",
    "barrier/reverse",
    "pack/snorm4x8",
    "texture/read-RGBA8Unorm_sRGB",
    "texture/write-RG11B10Float",
    "texture/sample-between-levels",
    "texture/sample-MirrorRepeat-linear",
    "argument-buffer/array-of-pointers",
    "argument-buffer/texture-and-sampler",
)


def recorded(path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with recording(path, "emulated", program="suite") as metal:
        monkeypatch.setitem(sys.modules, "Metal", metal)
        assert suite.main([pattern]) == 0


def test_there_are_at_least_300_cases_each_with_a_name_of_its_own() -> None:
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) >= 300
    assert len({kernel_of(case) for case in cases()}) == len(names)


def test_values_are_the_same_each_time_and_have_all_exponents() -> None:
    (case,) = cases("math/exp-float")
    (x, y), again = values_of(case), values_of(case)
    assert x.tobytes() + y.tobytes() == again[0].tobytes() + again[1].tobytes()
    exponents = np.unique(x.view(np.uint32) >> 23 & 0xFF)
    assert len(exponents) > 230


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", QUICK)
def test_a_case_runs_and_its_recording_replays_without_findings(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path / "a", name, monkeypatch)
    result = replay(tmp_path / "a", chip="")
    assert [each.label for each in result.dispatches] == [name]
    assert [each.verdict for each in result.dispatches] == ["equal"]
    assert result.report is not None
    assert not result.not_replayed


@pytest.mark.slow
def test_all_cases_run_and_replay_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "a", "*", monkeypatch)
    result = replay(tmp_path / "a", checks=None, chip="")
    assert [each.verdict for each in result.dispatches] == ["equal"] * len(cases())


def test_a_pattern_that_no_case_has_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert suite.main(["nosuch*"]) == 1
    assert "no case fits 'nosuch*'" in capsys.readouterr().err


def test_tolerances_are_twice_what_apple_promises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.main(["--tolerances"]) == 0
    path = tmp_path / "suite.toml"
    path.write_text(capsys.readouterr().out)
    known = read_tolerances(path)
    tiny = float(np.finfo(np.float32).tiny)
    assert known.of("math_exp_float") == Limits(ulp=8, atol=2 * tiny)
    assert known.of("math_rsqrt_float") == Limits(ulp=0, atol=2 * tiny)
    assert known.of("fast_math_sin_float").atol == 2.0**-12
    assert known.of("fast_math_rsqrt_float").ulp == 4
    assert known.of("fast_math_fmod_float") == Limits(any_nan=True)
    assert known.of("integer_xor_int") == Limits(any_nan=True)


def test_arguments_with_fast_math_are_those_that_have_a_promise() -> None:
    (case,) = cases("fast-math/sin-float")
    x, _ = values_of(case)
    assert np.all(np.abs(x) <= np.pi)

"""The benchmark of proofs: it knows our kernels, and tells what is proved of each."""

from __future__ import annotations

import pytest

from assay.compiler.foundry.library import KERNELS
from benchmarks.pipelines.forms import FORMS
from benchmarks.proofs import cases, main, proved, text


def test_all_kernels_of_the_library_and_all_forms_are_among_them() -> None:
    names = [each.name for each in cases()]
    assert len(set(names)) == len(names)
    assert set(KERNELS) <= set(names)
    assert set(FORMS) <= {each.removeprefix("marlin_") for each in names}


def test_a_kernel_is_told_with_its_answers_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = (each for each in cases() if each.name == "swiglu")
    found = proved(case)
    assert found.is_proved
    assert text(found).startswith("proved (")
    assert main(["swiglu", "vector_add"]) == 0
    told = capsys.readouterr().out
    assert "2 kernels: 2 proved, 2 within 10 s; 0 rings" in told

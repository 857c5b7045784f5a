"""Networks compiled for the NPU and run on it give what TOSA gives, free of hazards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.graph import models

from .running import assert_exact_and_clean, lowered

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in models.LARGE]
"""Larger than the NPU's memory."""


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", [*models.SMALL, *LARGE])
def test_a_network_is_exact_and_clean(name: str, keep: bool, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    program = lowered(models.imported(name, folder), keep=keep)
    assert_exact_and_clean(program, inputs, expected)


def test_a_network_is_compiled_the_same_each_time(folder: Path) -> None:
    one, other = (lowered(models.imported("small", folder)) for _ in range(2))
    assert one == other

"""Networks in TorqHL compute what they compute in TOSA, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.torq.hl.dialect import parsed
from assay.compiler.torq.hl.interpret import interpreted
from assay.compiler.torq.legalise.function import legalise_module
from tests.compiler.graph import models

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


@pytest.mark.parametrize(
    "name", [*models.SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in models.LARGE)]
)
def test_a_legalised_network_computes_the_same(name: str, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    module = models.imported(name, folder)
    legalise_module(module, name)
    module.verify()
    for one, other in zip(expected, interpreted(models.main(module), inputs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_legalised_network_is_printed_as_it_is_read(folder: Path) -> None:
    module = models.imported("ds_cnn", folder)
    legalise_module(module)
    assert str(parsed(str(module))) == str(module)

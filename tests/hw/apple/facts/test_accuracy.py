"""Kinds of kernels, and how far off the model was for each of them."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.hw.apple.core.kind import KINDS, kind_of
from assay.hw.apple.facts.accuracy import model_error
from assay.hw.apple.lower.code import MachineCode
from assay.hw.apple.lower.lower import lower
from assay.hw.facts import SpecError
from assay.sim.simt.emit.tape import TAPED_MARKS, prepare
from tests.support.msl import PRELUDE


def code_of(body: str) -> MachineCode:
    source = (
        f"{PRELUDE}kernel void k(device float* x, uint i [[thread_position_in_grid]]) {{{body}}}"
    )
    program = compile_library(source).function("k").program()
    return lower(prepare(program.marked_function(TAPED_MARKS)))


PLAIN = "x[i] = x[i] * 2;"
MATRIX = """
    simdgroup_float8x8 a, b, c(0);
    simdgroup_load(a, x, 8);
    simdgroup_load(b, x, 8);
    simdgroup_multiply_accumulate(c, a, b, c);
    simdgroup_store(c, x, 8);
"""


@pytest.mark.parametrize(
    ("causes", "kind"),
    [
        ({"issue": 50.0, "dependency": 20.0, "dram": 30.0}, "arithmetic"),
        ({"issue": 40.0, "l1": 10.0, "l2": 20.0, "slc": 5.0, "dram": 25.0}, "memory"),
        ({"issue": 20.0, "threadgroup_memory": 30.0, "barrier": 25.0, "atomic": 5.0}, "shared"),
        ({"idle": 90.0, "launch": 5.0, "dram": 5.0}, "memory"),
    ],
)
def test_a_kernel_is_of_the_kind_that_most_of_its_time_goes_into(
    causes: dict[str, float], kind: str
) -> None:
    assert kind_of(code_of(PLAIN), causes) == kind


def test_a_kernel_with_matrix_instructions_is_of_their_kind_whatever_it_waits_for() -> None:
    assert kind_of(code_of(MATRIX), {"dram": 100.0}) == "matrix"


def test_every_kind_has_an_error_that_was_measured_on_some_rows() -> None:
    for kind in KINDS:
        known = model_error(kind)
        assert known.kind == kind and known.what
        assert known.count > 0
        assert 0 < known.median <= known.p90
    assert np.unique([model_error(kind).what for kind in KINDS]).size == len(KINDS)


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    with pytest.raises(SpecError, match=r"\[kinds\.poetry\] is missing; there are matrix"):
        model_error("poetry")

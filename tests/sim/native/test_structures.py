"""A structure that is declared once is the same in Python, numpy and C."""

import ctypes
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest

from assay.sim.native.c_code import load_c
from assay.sim.native.c_header import c_header, numbered
from assay.sim.native.c_unit import CUnit
from assay.sim.native.structures import dtype_of, pointer


class InnerPart(ctypes.Structure):
    _fields_ = (("small", ctypes.c_uint8), ("wide", ctypes.c_int64))


class Whole(ctypes.Structure):
    _fields_ = (
        ("first", ctypes.c_int16),
        ("parts", InnerPart * 3),
        ("numbers", pointer("i32")),
        ("others", ctypes.POINTER(InnerPart)),
        ("real", ctypes.c_float),
        ("last", ctypes.c_uint16),
    )


class Colour(IntEnum):
    RED = 3
    BLUE = 7


HEADER = c_header(
    constants={"SMALL": 5, "LARGE": 1 << 40},
    enumerations=(Colour, numbered(("up", "down"), prefix="GO_")),
    structures=(InnerPart, Whole),
)
TEXT = """
i64 sum(struct whole *w) {
    i64 total = w->first + w->numbers[1] + w->others->wide + (i64)w->real + w->last;
    for (int k = 0; k < 3; k++) total += w->parts[k].small + w->parts[k].wide;
    return total;
}
i64 numbers(void) { return LARGE + SMALL + RED + BLUE + GO_DOWN; }
"""


def function(name: str, *arguments: type) -> Callable[..., int]:
    code = load_c(HEADER.replace("#pragma once", "") + TEXT, "test-structures")
    KEPT.append(code)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(code.address(name))


KEPT: list[object] = []


def test_c_reads_what_python_wrote_into_a_structure() -> None:
    numbers = np.array([1, 20], np.int32)
    other = InnerPart(0, 300)
    whole = Whole(first=-4, numbers=numbers.ctypes.data, real=5000.0, last=60000)
    whole.others = ctypes.pointer(other)
    for k in range(3):
        whole.parts[k].small, whole.parts[k].wide = k, -(10**k) * 10**9
    expected = -4 + 20 + 300 + 5000 + 60000 + 3 - 111 * 10**9
    assert function("sum", ctypes.c_void_p)(ctypes.addressof(whole)) == expected


def test_c_reads_what_numpy_wrote_into_a_structure() -> None:
    numbers, other = np.array([1, 20], np.int32), InnerPart(0, 300)
    whole = np.zeros(1, dtype_of(Whole))
    whole["first"], whole["real"], whole["last"] = -4, 5000.0, 60000
    whole["numbers"], whole["others"] = numbers.ctypes.data, ctypes.addressof(other)
    whole["parts"]["wide"][0] = (1, 10, 100)
    assert function("sum", ctypes.c_void_p)(whole.ctypes.data) == -4 + 20 + 300 + 65000 + 111


def test_numbers_and_enumerations_are_the_same_in_c() -> None:
    assert function("numbers")() == (1 << 40) + 5 + 3 + 7 + 1


def test_c_code_does_not_compile_when_it_lays_a_structure_out_in_another_way() -> None:
    packed = HEADER.replace("struct inner_part {", "#pragma pack(1)\nstruct inner_part {")
    with pytest.raises(RuntimeError, match="as Python has it"):
        load_c(packed.replace("#pragma once", ""), "test-structures")


def test_a_mistake_in_c_is_reported_with_its_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "wrong_c"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "main.c").write_text(
        '#include "made.h"\n#include "part.c"\nint f(void) {\n  x;\n}\n'
    )
    (package / "part.c").write_text(
        '#pragma once\n#include "made.h"\n\ni32 g(void) { return y; }\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    unit = CUnit(
        kind="test-wrong", package="wrong_c", main="main.c", header="made.h", declared=c_header
    )
    with pytest.raises(RuntimeError) as caught:
        unit.load()
    assert "wrong_c/main.c:4:3: error: use of undeclared identifier 'x'" in str(caught.value)
    assert "wrong_c/part.c:4:22: error: use of undeclared identifier 'y'" in str(caught.value)

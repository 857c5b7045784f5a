"""Shapes as keys of the cache."""

from collections import namedtuple

from assay.compiler.msl import compile_library

Size = namedtuple("Size", ["width", "height", "depth"])


def test_code_of_a_size_is_the_same_whatever_type_the_size_has() -> None:
    program = compile_library("kernel void k(device int* p) { p[0] = 1; }").function("k").program()
    assert program.specialise(Size(32, 1, 1)) is program.specialise((32, 1, 1))
    assert repr(program.specialise(Size(64, 1, 1)).shape) == repr(
        program.specialise((64, 1, 1)).shape
    )
    assert "Size(" not in repr(program.specialise(Size(64, 1, 1)).shape)

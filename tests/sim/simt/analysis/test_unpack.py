"""Parts of integers that the calling convention packed are found behind shifts and masks."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt.ir.operations.integers import AND
from tests.support.kernels import Kernel, assemble, on_engine

# What is moved is used twice, and parts lie apart, or LLVM would see through it before us.
_KERNEL = """
define void @kernel_entry(ptr addrspace(1) %x, ptr addrspace(1) %y) {{
  %a = load i32, ptr addrspace(1) %x
  %q = getelementptr i32, ptr addrspace(1) %x, i64 2
  %b = load {part}, ptr addrspace(1) %q
  %low = zext i32 %a to i64
  %wide = zext {part} %b to i64
  %high = shl i64 %wide, 32
  %packed = or i64 %low, %high
  %moved = lshr i64 %packed, {amount}
  {picked}
  store {type} %found, ptr addrspace(1) %y
  %r = getelementptr i64, ptr addrspace(1) %y, i64 1
  store i64 %moved, ptr addrspace(1) %r
  ret void
}}
"""
_NARROW = "%part = trunc i64 %moved to i32\n  %found = and i32 %part, {mask}"
_WIDE = "%found = and i64 %moved, {mask}"
_A, _B = 0x9ABCDEF7, 0xF1234567


def _kernel(part: str, amount: int, picked: str, mask: int) -> Kernel:
    type = "i32" if picked is _NARROW else "i64"
    return assemble(
        _KERNEL.format(part=part, amount=amount, picked=picked.format(mask=mask), type=type), "x y"
    )


# Both engines run what the pass left, so that only numbers can judge it.
@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", ["i32", "i16"])
@pytest.mark.parametrize("picked", [_NARROW, _WIDE])
@pytest.mark.parametrize("amount", [16, 28, 29, 30, 31, 32, 33, 40])
@pytest.mark.parametrize(
    "mask", [-2, -4, -8, -16, 4, 12, 14, 0xFFF8, 0xFFFC, 0x3FFFC, 0x7FFF_FFFC, 17179869180]
)
def test_a_mask_of_a_shifted_pair_gives_its_bits(
    part: str, picked: str, amount: int, mask: int
) -> None:
    width = 32 if picked is _NARROW else 64
    if mask.bit_length() > width:
        return
    kernel = _kernel(part, amount, picked, mask)
    columns = [np.array([_A, 0, _B], np.uint32), np.zeros(4, np.uint32)]
    found = on_engine(kernel, columns, threadgroup_size=(1, 1, 1), threads=(1, 1, 1))[1]
    packed = _A | ((_B & (1 << int(part[1:])) - 1) << 32)
    expected = (packed >> amount) & mask & (1 << width) - 1
    assert int(found[0]) | int(found[1]) << 32 == expected


@pytest.mark.parametrize(
    ("part", "amount", "picked", "mask", "is_seen"),
    [
        ("i32", 30, _NARROW, -4, True),
        ("i32", 29, _NARROW, -8, True),
        ("i32", 30, _WIDE, 17179869180, True),
        ("i16", 30, _NARROW, 0x3FFFC, True),
        ("i32", 30, _NARROW, -2, False),  # a bit of the lower part is among them
        ("i32", 30, _NARROW, 0xFFFC, False),  # some of the higher part are not
    ],
)
def test_a_part_that_is_moved_up_needs_no_mask(
    part: str, amount: int, picked: str, mask: int, is_seen: bool
) -> None:
    left = {i.operation for i in _kernel(part, amount, picked, mask).function().instructions()}
    assert (AND not in left) is is_seen


_ROWS = """
kernel void rows(device const char* from [[buffer(0)]], device int* to [[buffer(1)]],
                 constant uint& width [[buffer(2)]], uint3 at [[thread_position_in_grid]]) {
    int sum = 0;
    const uint row = at.y * 4;
    for (uint i = 0; i < width; i++) sum += from[(row + at.z) * width + i];
    to[(at.z * width + row + 1) * 64 + at.x] = sum;
}
"""


def test_a_multiple_of_a_position_that_all_lanes_share_makes_no_gather() -> None:
    program = compile_library(_ROWS).function("rows").program()
    text = program.llvm_text((64, 1, 1))
    assert "masked.gather" not in text

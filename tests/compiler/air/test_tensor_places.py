"""Which GPUs a compiled kernel counts on, by the columns that it computes of a thread's number."""

from __future__ import annotations

import pytest

from assay.compiler.air.tensors.places import counts_on_eights

ELEMENT = "@__tensorops_impl_matmul2d_op_cooperative_tensor_get_element_pointer("
OWN = "  %lane = call i16 @air.get_thread_index_in_simdgroup.i16()\n"
EIGHTS = """  %q = lshr i16 %lane, 1
  %high = and i16 %q, 4
  %two = shl nuw i16 %lane, 1
  %low = and i16 %two, 2
  %column = or disjoint i16 %high, %low
"""
SIXTEENS = """  %q = lshr i16 %lane, 2
  %half = and i16 %q, 2
  %next = and i16 %lane, 1
  %quarter = or i16 %half, %next
  %wide = zext i16 %quarter to i32
  %column = mul i32 %wide, 4
"""


def module(lines: str, called: str = ELEMENT) -> str:
    return f"define void @k(i16 %p) {{\n{lines}  call ptr {called}i32 0)\n  ret void\n}}\n"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (module(OWN + EIGHTS), True),
        (module(OWN + SIXTEENS), False),
        (module(OWN + EIGHTS + SIXTEENS.replace("%", "%x").replace("%xlane", "%lane")), False),
        (module(OWN), False),
        (module(EIGHTS), False),
    ],
)
def test_a_kernel_counts_on_the_gpus_whose_columns_it_computes(text: str, counts: bool) -> None:
    assert counts_on_eights(text) == counts


def test_a_threads_number_may_be_a_parameter() -> None:
    text = module(EIGHTS.replace("%lane", "%p"))
    assert counts_on_eights(text, ["%p"])
    assert not counts_on_eights(text)


def test_a_kernel_that_asks_for_places_or_has_no_tensors_counts_on_none() -> None:
    asking = ELEMENT.replace("get_element_pointer", "get_coordinate")
    assert not counts_on_eights(module(OWN + EIGHTS, asking))
    assert not counts_on_eights(module(OWN + EIGHTS, "@air.simd_sum.f32("))

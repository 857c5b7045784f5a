"""Assumptions speak of the members of structs that the compiler takes, where it lays them."""

from __future__ import annotations

import pytest

import assay
from tests.support.msl import PRELUDE

TEXTS = {
    "another namespace has one of that name": """
namespace old { struct Args { uint n; uint m; }; }
struct Args { uint m; uint n; };
""",
    "it depends on the preprocessor": """
#ifdef OLD
struct Args { uint n; uint m; };
#else
struct Args { uint m; uint n; };
#endif
""",
    "members are aligned": """
struct Args { uint m; alignas(8) uint n; uint a; float4 v; };
""",
}
KERNEL = """
//! [kernel.k]
//! threadgroup = 64
kernel void k(constant Args& args, device float* y, uint i [[thread_position_in_grid]]) {
    threadgroup float s[64];
    s[args.n] = 1;
    y[i] = 1;
}
"""


def verdict(text: str, assumed: str) -> str:
    """What is found of accesses to arrays."""
    (kernel,) = assay.prove(PRELUDE + text + KERNEL, assume=assumed, cache=False).kernels
    assert not kernel.problem
    (answer,) = (each for each in kernel.answers if each.about == "bounds")
    return answer.verdict


@pytest.mark.parametrize("why", TEXTS)
def test_only_the_member_that_is_the_index_bounds_it(why: str) -> None:
    assert verdict(TEXTS[why], "args.m < 64") != "proved"
    assert verdict(TEXTS[why], "args.n < 64") == "proved"


def test_padding_has_no_name() -> None:
    source = PRELUDE + TEXTS["members are aligned"] + KERNEL
    (kernel,) = assay.prove(source, assume="args.b < 64").kernels
    assert "args.b" in kernel.problem

"""Comparisons that all lanes answer alike, though what they compare differs from lane to lane."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.emit.values import Values
from assay.sim.simt.ir.shape import Shape
from tests.support.kernels import Kernel, Size, compile_cpp, on_engine, on_reference

_WORDS = 1 << 12


def _compiled(body: str) -> Kernel:
    return compile_cpp(
        f"""KERNEL(DEVICE uint* in, DEVICE uint* out) {{
            uint x = __assay_thread_position_in_threadgroup(0);
            uint y = __assay_thread_position_in_threadgroup(1);
            uint g = __assay_threadgroup_position_in_grid(0), sum = 0;
            {body}
        }}""",
        "in out",
    )


def _parts_lanes(body: str, size: Size) -> bool:
    found = Values(_compiled(body).function(), Shape(size=size, nominal=size), frozenset())
    return bool(found.divergence.divergent)


_ALIKE: dict[str, tuple[str, Size]] = {
    "a loop that strides over a tile": (
        "for (uint i = x; i < 512 + in[0] * 0; i += 128) sum += in[i * 2]; out[x] = sum;"
        "for (uint i = x; i < 2048; i += 128) out[i] = in[i] + g;",
        (128, 1, 1),
    ),
    "a guard of whole simdgroups": ("if (x < 64) out[x] = in[x];", (128, 1, 1)),
    "a guard that includes its bound": ("if (x <= 63) out[x] = in[x];", (128, 1, 1)),
    "a guard from above": ("if (x > 31) out[x] = in[x];", (128, 1, 1)),
    "signed numbers": ("if ((int)x - 64 < -32) out[x] = in[x];", (128, 1, 1)),
    "the bound on the left": ("if (96u > x) out[x] = in[x];", (128, 1, 1)),
    "a bound that memory gives, in steps": ("if (x < in[5] * 32) out[x] = in[x];", (128, 1, 1)),
    "a last simdgroup of few threads": ("if (x < 96) out[x] = in[x];", (100, 1, 1)),
}
_PARTED: dict[str, tuple[str, Size]] = {
    "a bound inside a simdgroup": ("if (x < 33) out[x] = in[x];", (128, 1, 1)),
    "one off": ("if (x <= 64) out[x] = in[x];", (128, 1, 1)),
    "one off from above": ("if (x > 32) out[x] = in[x];", (128, 1, 1)),
    "equality": ("if (x == 32) out[x] = in[x];", (128, 1, 1)),
    "a start inside a simdgroup": (
        "for (uint i = x + 4; i < 1024; i += 128) out[i] = in[i];",
        (128, 1, 1),
    ),
    "a stride that leaves the multiples": (
        "for (uint i = x; i < 1024; i += 40) out[i] = in[i];",
        (32, 1, 1),
    ),
    "a bound that memory gives": ("if (x < in[5]) out[x] = in[x];", (128, 1, 1)),
    "numbers that wrap": ("if (x - 16 < 32) out[x] = in[x];", (128, 1, 1)),
    "a stride between lanes": ("if (x * 3 < 96) out[x] = in[x];", (128, 1, 1)),
    "numbers that fall": ("if (127 - x < 64) out[x] = in[x];", (128, 1, 1)),
}


@pytest.mark.parametrize("name", _ALIKE)
def test_no_lanes_part_where_all_answer_alike(name: str) -> None:
    assert not _parts_lanes(*_ALIKE[name])


@pytest.mark.parametrize("name", _PARTED)
def test_lanes_part_where_they_may_answer_differently(name: str) -> None:
    assert _parts_lanes(*_PARTED[name])


def _assert_agree(body: str, size: Size) -> None:
    kernel = _compiled(body)
    words = np.random.default_rng(1).integers(0, 4, _WORDS).astype(np.uint32)
    arrays = [words, np.zeros(_WORDS, np.uint32)]
    found = on_engine(kernel, arrays, threadgroup_size=size)
    expected = on_reference(kernel, arrays, threadgroup_size=size)
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", [*_ALIKE, *_PARTED])
def test_results_are_those_of_the_reference(name: str) -> None:
    _assert_agree(*(_ALIKE | _PARTED)[name])


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 24))]
)
def test_results_of_any_comparisons_are_those_of_the_reference(seed: int) -> None:
    chance = np.random.default_rng(seed)
    lines = []
    for _ in range(6):
        base = "x" if chance.random() < 0.6 else chance.choice(["x + y * 32", "(x & 15)", "x / 2"])
        start = int(chance.choice([0, 16, 32, 64, 96, 100, 1 << 31, (1 << 32) - 32]))
        bound = int(chance.choice([0, 1, 31, 32, 33, 63, 64, 96, 127, 128, 1 << 31])) + start
        bound %= 1 << 32
        value = f"({base} {chance.choice(['+', '-', '^'])} {start}u)"
        sign = chance.choice(["", "(int)"])
        compare = chance.choice(["<", "<=", ">", ">=", "==", "!="])
        sides = [f"{sign}{value}", f"{sign}{bound}u"]
        chance.shuffle(sides)
        lines.append(f"if ({sides[0]} {compare} {sides[1]}) out[x] = out[x] * 3 + in[x & 63];")
        step, end = int(chance.choice([8, 32, 64, 96])), int(chance.choice([64, 128, 160, 200]))
        lines.append(f"for (uint i = {base}; i < {end}; i += {step}) out[x] += in[i & 255] ^ i;")
    size = ((32, 1, 1), (64, 1, 1), (96, 1, 1), (100, 1, 1), (32, 2, 1))[seed % 5]
    body = " ".join(lines).replace("out[x]", "out[x + y * 128]")
    _assert_agree(body, size)

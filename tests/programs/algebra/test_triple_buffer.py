"""Three buffers, simdgroups that load, simdgroups that compute, as a design note has them."""

from typing import Any

import numpy as np
import pytest

from assay.foundry import Kernel, Standalone, WordColumns, custom, output, struct, tensor
from assay.foundry.types import half, uint
from tests.support.metal_kernel import SOURCES

SOURCE = SOURCES / "triple_buffer.metal"
FP4 = WordColumns("fp4", 8)
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


@struct
class Sizes:
    """The kernel's."""

    m: uint
    n: uint
    k: uint
    group: uint


def made(*changes: tuple[str, str]) -> Kernel:
    text = SOURCE.read_text()
    # The struct is put in front, as it is declared here.
    begin, end = text.index("struct Sizes"), text.index("// Elements from")
    text = text[:begin] + text[end:]
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    arguments = {
        "A": tensor(half),
        "B": tensor(uint),
        "scales": tensor(half),
        "C": output(float, lambda given: (given["sizes"].m, given["sizes"].n)),
        "sizes": Sizes,
    }

    def groups(given: Any) -> tuple[int, int]:
        return -(-given["sizes"].n // 64), -(-given["sizes"].m // 64)

    return Kernel(Standalone(text, "triple_buffered", arguments), grid=custom(groups, (128,)))


def values(m: int, n: int, k: int) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(k)
    packed = FP4.pack(rng.normal(size=(n, k)).astype(np.float32))
    a = rng.normal(size=(m, k)).astype(np.float16)
    given = {
        "A": a,
        "B": packed.matrix.view(np.uint32),
        "scales": packed.scales.view(np.float16),
        "sizes": Sizes(m=m, n=n, k=k, group=8),
    }
    rounded = FP4.unpack(packed).astype(np.float16).astype(np.float64)
    return given, a.astype(np.float64) @ rounded.T


SIZES = [(1, 1, 8), (64, 64, 32), (61, 70, 64), (65, 3, 88), (70, 66, 128)]


def test_it_is_right_for_one_to_four_tiles_of_k_and_ragged_sizes() -> None:
    kernel = made()
    for m, n, k in SIZES:
        given, expected = values(m, n, k)
        assert np.abs(kernel(**given) - expected).max() <= 1e-5 * max(np.abs(expected).max(), 1)


@pytest.mark.slow
def test_four_matrices_for_each_of_two_simdgroups_leave_half_of_the_tile_uncomputed() -> None:
    given, expected = values(64, 64, 32)
    found = made(("COLUMN_TILES 8", "COLUMN_TILES 4"))(**given)
    assert np.abs(found[:, :32] - expected[:, :32]).max() <= 1e-4
    assert np.isnan(found[:, 32:]).all()


LOOP = (f"{BARRIER}\n\n        buf_compute", "buf_compute")
FIRST = (f"{BARRIER}\n\n    load_A", "load_A")
SECOND = (f"{BARRIER}\n\n    buf_compute = 0", "buf_compute = 0")


@pytest.mark.slow
@pytest.mark.parametrize("change", [FIRST, SECOND], ids=["first", "second"])
def test_either_barrier_of_the_prologue_suffices(change: tuple[str, str]) -> None:
    given, expected = values(64, 64, 320)
    kernel = made(change)
    assert not kernel.check(**given).findings
    assert np.abs(kernel(**given) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        [LOOP],
        [FIRST, SECOND],
        [("buf_load = (buf_load + 1) % 3", "buf_load = (buf_load + 1) % 2")],
        [("buf_load = 2;", "buf_load = 0;")],
    ],
    ids=["loop's barrier", "prologue's barriers", "modulo 2", "first buffer"],
)
def test_what_breaks_its_invariant_is_reported_at_both_places(
    changes: list[tuple[str, str]],
) -> None:
    findings = made(*changes).check(**values(64, 64, 320)[0]).findings
    races = [each for each in findings if each.check == "race"]
    functions = {frozenset(party.site.function for party in each.parties) for each in races}
    assert any("compute_partial" in pair and len(pair) == 2 for pair in functions), functions

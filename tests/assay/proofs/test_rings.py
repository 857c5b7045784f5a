"""What is told of rings rests on what is proved of barriers and races of the same kernel."""

from __future__ import annotations

import pytest

from assay.compiler.verify import TOGETHER
from assay.compiler.verify.rings import RESTS_ON
from assay.proofs import KernelProof, ProofOptions, prove_source
from assay.proofs.text import proof_text
from tests.compiler.verify.sources import SMALL_RING

_READ = "sum += a[k % 2][63 - t];\n        ALL;"


def _proof(source: str) -> KernelProof:
    assume = ("n > 0", "n <= 1000000")
    options = ProofOptions(
        cache=False, offers=False, rings=True, threadgroup=(64, 1, 1), assume=assume
    )
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    return proof


def test_a_ring_of_a_kernel_without_races_is_proved() -> None:
    proof = _proof(SMALL_RING)
    assert proof.is_proved
    assert "none is stale" in proof_text(proof, {})


@pytest.mark.parametrize(
    ("barrier", "about"),
    [
        ("ALL;\n        sum += a[k % 2][63 - t];", "threadgroup races"),
        ("sum += a[k % 2][63 - t];\n        if (t < 32) ALL;", "barriers"),
    ],
    ids=["a barrier in the wrong place", "a barrier that not all come to"],
)
def test_nothing_is_proved_of_a_ring_whose_kernel_races(barrier: str, about: str) -> None:
    assert _READ in SMALL_RING
    proof = _proof(SMALL_RING.replace(_READ, barrier))
    (answer,) = (each for each in proof.answers if each.about == about)
    assert answer.verdict != "proved"
    assert proof.rings is not None
    for ring in proof.rings.rotations:
        assert not ring.is_proved and not ring.is_distinct
        assert ring.tiles is not None and not ring.tiles.proved
    shown = [line for line in proof_text(proof, {}).split("\n") if "for all k" in line]
    assert all("not proved:" in line or "undecided:" in line for line in shown)
    if about == "threadgroup races":
        assert f"nothing is proved of it before this is: {about}" in proof_text(proof, {})


def test_rings_are_asked_about_in_the_process_that_proves_what_they_rest_on() -> None:
    assert any(set(RESTS_ON).issubset(together) for together in TOGETHER)

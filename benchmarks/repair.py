"""`python -m benchmarks repair`: how many damaged kernels are mended by one small change.

The kernels are those of the mutation corpus, each damaged once in all ways that the corpus knows;
counted are the damaged ones that the prover refutes. What their launches must see to is what the
undamaged kernel needs.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from assay.compiler.msl import CompileError
from assay.proofs import KernelProof, ProofOptions, prove_source
from assay.repairs import repaired
from tests.checks.mutation.campaign import KERNELS
from tests.checks.mutation.mutants import Mutant, single_mutants

GOAL = 0.6
_SEED = 18


def main(arguments: list[str]) -> int:
    """Count, and say which are not mended; 1 if fewer are than the goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks repair", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="of the corpus; all if none is named")
    parser.add_argument("--mutants", type=int, help="refuted ones of each kernel, by a seed; all")
    options = parser.parse_args(arguments)
    total: Counter[bool] = Counter()
    for path in KERNELS:
        if options.kernels and path.stem not in options.kernels:
            continue
        found: Counter[bool] = Counter()
        for what, is_mended in judged(path, options.mutants):
            found[is_mended] += 1
            if not is_mended:
                print(f"  not mended: {what}", flush=True)
        print(f"{path.stem}: {found[True]} of {found.total()} mended", flush=True)
        total += found
    share = total[True] / max(total.total(), 1)
    print(f"all: {total[True]} of {total.total()} mended, {share:.0%} (the goal is {GOAL:.0%})")
    return int(share < GOAL)


def judged(path: Path, most: int | None) -> Iterator[tuple[str, bool]]:
    """Damaged kernels that are refuted, and whether each is mended."""
    source = path.read_text()
    options = ProofOptions()
    intact = _proof(source, path.name, options)
    needs = tuple(each.holds_if for each in intact.answers if each.holds_if)
    options = ProofOptions(assume=needs)
    if needs:
        intact = _proof(source, path.name, options)
    if intact.is_refuted:
        return  # what damage does cannot be told
    mutants = single_mutants(source)
    random.Random(_SEED).shuffle(mutants)
    count = 0
    for mutant in mutants:
        proof = _of_mutant(mutant, path.name, options)
        if proof is None:
            continue
        yield mutant.what, repaired(mutant.source, path.name, options, [proof]) is not None
        count += 1
        if count == most:
            return


def _of_mutant(mutant: Mutant, name: str, options: ProofOptions) -> KernelProof | None:
    """What is found of a damaged kernel that compiles and is refuted."""
    try:
        proof = _proof(mutant.source, name, options)
    except CompileError:
        return None
    return proof if proof.is_refuted else None


def _proof(source: str, name: str, options: ProofOptions) -> KernelProof:
    (proof,) = prove_source(source, name, options, workers=1)
    return proof

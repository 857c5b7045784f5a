"""`python -m benchmarks mutants`: what is proved of damaged kernels, and whether that may be so.

Damaged are the kernels of the checks' corpus, once in all ways that it knows, and the Foundry's
pipelines, in the ways of their tests. What changes results in every order of threads alike
is no race: of a damaged kernel of the corpus that is proved, the checks must find nothing but what
the proof assumes, that accesses stay within buffers whose lengths nobody stated and that variables
and buffers have values, and an oracle of interleaved runs must find its results the same in all
orders. Those in which only the order of atomics decides are counted apart: they do not race. No
damaged pipeline may be proved.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from assay.checks import read_annotations
from assay.compiler.foundry.structs.names import HALF
from assay.compiler.msl import CompileError, compile_library
from assay.foundry.library import gemm
from assay.foundry.products import Pipeline
from assay.proofs import KernelProof, ProofOptions, prove_source
from assay.proofs.options import SECONDS
from assay.proofs.rings import open_rings
from assay.sim.check import Finding
from tests.assay.foundry.pipeline_mutants import MUTANTS
from tests.assay.foundry.test_pipeline_mutants import FORMS, FP4
from tests.checks.mutation.campaign import KERNELS, MANY, judge
from tests.checks.mutation.mutants import Mutant, single_mutants

_FUEL = "3000000"  # a damaged loop may have no end
_COLUMNS = 12
_ORDER = "order-dependent-result"
_BY_ORDER = "proved, though the order of threads decides what is computed without a race"
_NO_RUN = "no run that was tried shows it"


def main(arguments: list[str]) -> int:
    """Count; 1 if something is proved that goes wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="of the corpus, or forms of pipelines; else all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each property")
    options = parser.parse_args(arguments)
    os.environ.setdefault("ASSAY_FUEL", _FUEL)
    total: Counter[str] = Counter()
    for name, found in _counted(options.kernels, options.seconds):
        print(f"{name}: {_text(found)}", flush=True)
        total += found
    print(f"all: {_text(total)}")
    return int(total["proved wrongly"] > 0)


def _counted(names: list[str], seconds: float) -> Iterator[tuple[str, Counter[str]]]:
    for path in KERNELS:
        if not names or path.stem in names:
            yield path.stem, Counter(_of_corpus(path, seconds))
    for form, pipeline in FORMS.items():
        if not names or form in names:
            yield f"pipeline {form}", Counter(_of_pipeline(form, pipeline, seconds))


def _of_corpus(path: Path, seconds: float) -> Iterator[str]:
    """What becomes of each damaged kernel of a file."""
    source = path.read_text()
    needs = tuple(_as_launched(source, path.name))
    for mutant in single_mutants(source):
        try:
            library = compile_library(mutant.source)
            (name,) = library.function_names
            buffers = {each.name for each in library.function(name).arguments}
        except CompileError:
            continue
        options = ProofOptions(assume=needs, timeout=seconds, cache=False, offers=False)
        (proof,) = prove_source(mutant.source, path.name, options, workers=1)
        found = _verdict(proof)
        if found == "proved":
            found = _proved(path, mutant, buffers)
        yield found


def _as_launched(source: str, name: str) -> Iterator[str]:
    """The grid that a file's kernel is run with; its arguments and data may be any."""
    ((setup,),) = read_annotations(source, name).setups.values()
    for of, size in (("grid", setup.threads), ("groups", setup.threadgroups)):
        for axis, count in zip("xyz", size or (), strict=False):
            yield f"{of}.{axis} == {count}"


def _proved(path: Path, mutant: Mutant, buffers: Collection[str]) -> str:
    """How right it is to prove a mutant, by what checks and interleaved runs find beyond what the
    proof assumes.
    """
    verdict = judge(path, mutant, MANY)
    has_no_value = "initial value removed" in mutant.what
    found = [each for each in verdict.findings if not _is_assumed(each, buffers, has_no_value)]
    if found and all(each.kind == _ORDER for each in found):
        return _BY_ORDER
    if not found and (verdict.findings or verdict.differs is None):
        return "proved"
    print(f"  proved wrongly: {path.stem}: {mutant.what}", flush=True)
    return "proved wrongly"


def _is_assumed(finding: Finding, buffers: Collection[str], has_no_value: bool) -> bool:
    """Whether it is about a buffer's length that is not stated, or about what has no value: a
    variable, or what a host did not put into a buffer.
    """
    memory = finding.memory.strip("'")
    if finding.check == "bounds":
        return memory in buffers
    return finding.check == "init" and (has_no_value or not memory or memory in buffers)


def _of_pipeline(form: str, pipeline: Pipeline, seconds: float) -> Iterator[str]:
    """What becomes of each damage to a form, as its host launches it."""
    kernel = gemm(FP4, _COLUMNS, HALF, pipeline=pipeline)
    declared, tile = kernel.declared, pipeline.tile
    options = ProofOptions(
        functions=(declared.function,),
        threadgroup=(pipeline.threads, 1, 1),
        assume=(
            f"{tile.n} * groups.x < params.n + {tile.n}",
            f"{tile.m} * groups.y < params.m + {tile.m}",
            "groups.z == 1",
            "params.k % 8 == 0",
        ),
        buffers={
            "x": "2 * params.m * params.k",
            "y": "2 * params.m * params.n",
            "matrix": "params.n * (params.k // 2)",
            "scales": "params.n * (params.k // 8) * 2",
        },
        timeout=seconds,
        rings=True,
        cache=False,
        offers=False,
    )
    damaged = {each.name: each.damage(declared.source, pipeline) for each in MUTANTS}
    for name, text in {"intact": declared.source, **damaged}.items():
        if text is None:
            continue
        (proof,) = prove_source(text, f"{form}.metal", options, workers=1)
        found = _verdict(proof)
        if name == "intact":
            print(f"  {form}, intact: {found}", flush=True)
            continue
        if found == "proved":
            print(f"  proved wrongly: {form}: {name}", flush=True)
            found = "proved wrongly"
        yield found


def _verdict(proof: KernelProof) -> str:
    if proof.is_refuted:
        return "refuted"
    if proof.is_proved:
        return "proved"
    shown_by_none = any(_NO_RUN in o.why for answer in proof.answers for o in answer.obstacles)
    if shown_by_none:
        return "undecided, since no run shows a counterexample"
    return "undecided for its rings" if any(open_rings(proof.rings)) else "undecided"


def _text(found: Counter[str]) -> str:
    return f"{found.total()} damaged: " + ", ".join(
        f"{n} {what}" for what, n in sorted(found.items())
    )

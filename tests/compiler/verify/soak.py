"""Random kernels by the thousand: `python -m tests.compiler.verify.soak --kernels 100000`.

What was done is noted in a file, block by block, with a digest of what it was done by: the prover,
what reads kernels, and these tests. What is noted there of the same digest is not done again. The
file's lines are summed up at the end.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay.compiler.msl import CompileError
from assay.sim.native.disk_cache import digest
from assay.sim.simt.ir.faults import UnsupportedKernel

from . import copy_kernels, metal_launches
from .chosen_kernels import chosen
from .handed_kernels import handed
from .judge import (
    LONG,
    QUICK,
    answers,
    contradictions,
    found_in_launches,
    is_ordered,
    out_of_order,
    program_of,
)
from .random_kernels import RandomKernel, drawn, written
from .schedules import can_be_told
from .sharp_kernels import sharp
from .strict_kernels import strict
from .wide_kernels import ragged, wide

GENERATORS: dict[str, Callable[[int], RandomKernel]] = {
    "wide": wide,
    "drawn": drawn,
    "written": written,
    "sharp": sharp,
    "ragged": ragged,
    "strict": strict,
    "handed": handed,
    "chosen": chosen,
}
_NOTHING: dict[str, Any] = {
    "contradictions": [],
    "proved_of_sample": {},
    "faulty_of_sample": {},
    "sample": 0,
    "scheduled": 0,
}
ABOUT = ("barriers", "threadgroup races", "initialised", "buffer races", "bounds")
_OBJECTS = 50_000  # after so many new ones, those that nobody needs are looked for
_BLOCK = 50
_EACH = 25  # of so many kernels one is tried with all effort
_SAMPLE = 10  # of so many kernels one has all its proofs counted, and is run in several orders
_ROOT = Path(__file__).parents[3]
_MADE_BY = (
    "assay/compiler/verify",
    "assay/sim/simt/read",
    "assay/sim/simt/ir",
    "tests/compiler/verify",
)
_OPTIMISED = 4  # of so many kernels one is read with its loops unrolled
_TEXTS = {"copies": copy_kernels.contradictions, "metal": metal_launches.contradictions}
_SHARES = {
    "wide": 3,
    "drawn": 1,
    "written": 1,
    "sharp": 1,
    "ragged": 1,
    "strict": 1,
    "handed": 1,
    "chosen": 1,
    "copies": 1,
    "metal": 2,
}  # blocks of each generator in a round


def block(generator: str, start: int) -> dict[str, Any]:
    """What is found of kernels from a seed on."""
    if generator in _TEXTS:
        return _block_of_texts(generator, start)
    found: list[str] = []
    scheduled = 0
    proved: Counter[str] = Counter()
    faulty: Counter[str] = Counter()
    for seed in range(start, start + _BLOCK):
        kernel, name = GENERATORS[generator](seed), f"{generator} {seed}"
        is_long = seed % _EACH == 0
        effort, optimised = LONG if is_long else QUICK, seed % _OPTIMISED == 1
        found += contradictions(kernel, name, seed, effort, optimised=optimised)
        if seed % _SAMPLE == 0:
            program = program_of(kernel, name)
            given = answers(program, kernel, ABOUT, QUICK)
            proved.update(a for a, each in given.items() if each.verdict == "proved")
            found += out_of_order(program, kernel, seed, given)
            scheduled += can_be_told(kernel) and is_ordered(given)
            faulty.update({each.fault.about for each in found_in_launches(kernel, seed)})
    return {
        "contradictions": found,
        "proved_of_sample": dict(sorted(proved.items())),
        "faulty_of_sample": dict(sorted(faulty.items())),
        "sample": _BLOCK // _SAMPLE,
        "scheduled": scheduled,
    }


def _block_of_texts(generator: str, start: int) -> dict[str, Any]:
    seeds = range(start, start + _BLOCK)
    found = [line for seed in seeds for line in _TEXTS[generator](seed, QUICK)]
    return {**_NOTHING, "contradictions": found}


def blocks(first: int = 0) -> Iterator[tuple[str, int]]:
    """Blocks of all generators by turns, from a seed on."""
    done = dict.fromkeys(_SHARES, first // _BLOCK * _BLOCK)
    while True:
        for generator, share in _SHARES.items():
            for _ in range(share):
                yield generator, done[generator]
                done[generator] += _BLOCK


def made_by() -> str:
    """A digest of what decides what is found."""
    files = [each for folder in _MADE_BY for each in sorted((_ROOT / folder).rglob("*.py"))]
    return digest(*(each.read_bytes() for each in files))[:12]


def noted(results: Path) -> list[dict[str, Any]]:
    """What a file says that was done."""
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text().splitlines() if line]


def run(results: Path, kernels: int, minutes: float, first: int = 0) -> None:
    """Go on until so many kernels are noted, or for so long; seeds begin with `first`."""
    gc.freeze()  # what is there for good is not gone through again and again
    gc.set_threshold(_OBJECTS)
    by = made_by()
    known = {(each["generator"], each["start"]) for each in noted(results) if each["prover"] == by}
    end = time.monotonic() + 60 * minutes
    count = _BLOCK * len(known)
    for generator, start in blocks(first):
        if count >= kernels or time.monotonic() > end:
            return
        if (generator, start) in known:
            continue
        begin = time.process_time()
        found, tried = _tried(generator, start)
        line = {
            "generator": generator,
            "start": start,
            "kernels": tried,
            "prover": by,
            "seconds": round(time.process_time() - begin, 2),
            **found,
        }
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        for each in (*found["contradictions"], *found["problems"]):
            print(each, flush=True)
        count += tried


def _tried(generator: str, start: int) -> tuple[dict[str, Any], int]:
    """What is found of a block, and of how many kernels; of none if one cannot be read."""
    try:
        return {**block(generator, start), "problems": []}, _BLOCK
    except (UnsupportedKernel, CompileError) as error:
        return {**_NOTHING, "problems": [f"{generator} from {start}: {error}"]}, 0


def summary(lines: list[dict[str, Any]]) -> str:
    """How many kernels of which generator ran with which prover, and what was found."""
    told = []
    for key in sorted({(each["prover"], each["generator"]) for each in lines}):
        mine = [each for each in lines if (each["prover"], each["generator"]) == key]
        proved, faulty = Counter[str](), Counter[str]()
        for each in mine:
            proved.update(each["proved_of_sample"])
            faulty.update(each["faulty_of_sample"])
        scheduled = sum(each.get("scheduled", 0) for each in mine)
        told.append(
            f"{key[0]} {key[1]}: {sum(each['kernels'] for each in mine)} kernels, "
            f"{sum(len(each['contradictions']) for each in mine)} contradictions, "
            f"{sum(each['seconds'] for each in mine):.0f} s; of {sum(e['sample'] for e in mine)}: "
            f"proved {dict(proved)}, wrong in a launch {dict(faulty)}, run in other orders "
            f"{scheduled}"
        )
    return "\n".join(told)


def main() -> int:
    """The command; it fails if a proof was contradicted, or a kernel not read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--results", type=Path, default=Path("proofs-soak.jsonl"))
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    given = parser.parse_args()
    run(given.results, given.kernels, given.minutes, given.first)
    lines = noted(given.results)
    print(summary(lines))
    return int(any(each["contradictions"] or each["problems"] for each in lines))


if __name__ == "__main__":
    sys.exit(main())

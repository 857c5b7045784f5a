"""`python -m benchmarks prove_peers`: kernels that GPUVerify and Faial publish answers about.

They are written anew in MSL. What the two tools answer is what their own suites say, at one launch
each; Assay's answers are for all grids and arguments that a kernel's assumptions allow.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.proofs import KernelProof, ProofOptions, prove_source

HERE = Path(__file__).parent
MEASURED = HERE / "measured.json"
_RACES = ("barriers", "threadgroup races", "buffer races")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A kernel, and what is published about it.

    Attributes:
        name: the kernel's, and its file's.
        suite, case: where it comes from.
        truth: `free` of races, or `racy`.
        gpuverify, faial: `proved` or `alarm`, where the tool's own suite says so.
        launch: threads of a threadgroup and threadgroups that GPUVerify's answer is about.
    """

    name: str
    suite: str
    case: str
    truth: str
    gpuverify: str = ""
    faial: str = ""
    launch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What Assay answers: `proved`, `refuted` or `undecided`; seconds of the processor."""

    answer: str
    seconds: float


def peers() -> list[Peer]:
    """All kernels, in the order in which they are told of."""
    table = tomllib.loads((HERE / "peers.toml").read_text())
    return [Peer(name=name, **each) for name, each in table["kernel"].items()]


def measured(peer: Peer) -> Measured:
    """Ask the prover, by one process and without what it found before."""
    path = HERE / "kernels" / f"{peer.name}.metal"
    (proof,) = prove_source(path.read_text(), path.name, ProofOptions(cache=False), workers=1)
    if proof.problem:
        raise ValueError(f"{path}: {proof.problem}")
    return Measured(answer=_answer(proof), seconds=round(proof.seconds, 2))


def _answer(proof: KernelProof) -> str:
    """Of freedom from races: all threads come to the same barriers, and no two of them race."""
    verdicts = {each.verdict for each in proof.answers if each.about in _RACES}
    if "refuted" in verdicts:
        return "refuted"
    return "proved" if verdicts == {"proved"} else "undecided"


def is_right(peer: Peer, found: Measured) -> bool:
    """Whether an answer does not contradict what holds."""
    return found.answer in ({"free": "proved", "racy": "refuted"}[peer.truth], "undecided")


def stored() -> dict[str, Measured]:
    """Results as they were stored."""
    table = json.loads(MEASURED.read_text())
    return {name: Measured(**each) for name, each in table.items()}


def table(rows: Iterable[tuple[Peer, Measured]]) -> list[str]:
    """A table in Markdown, and what it adds up to."""
    known = list(rows)
    lines = [
        "| kernel | from | is | GPUVerify | Faial | Assay | s |",
        "|---|---|---|---|---|---|--:|",
    ]
    for peer, found in known:
        lines.append(
            f"| {peer.name} | {peer.case} | {peer.truth} | {peer.gpuverify or '-'} | "
            f"{peer.faial or '-'} | {found.answer} | {found.seconds:.1f} |"
        )
    return [*lines, "", counted(known)]


def counted(rows: list[tuple[Peer, Measured]]) -> str:
    """How many each tool decides."""
    told = []
    for tool, name in (("GPUVerify", "gpuverify"), ("Faial", "faial")):
        theirs = [(peer, found) for peer, found in rows if getattr(peer, name)]
        ours = sum(found.answer != "undecided" for _, found in theirs)
        told.append(f"Of the {len(theirs)} that {tool} decides, Assay decides {ours}.")
    seconds = sorted(found.seconds for _, found in rows)
    middle = seconds[len(seconds) // 2]
    return f"{' '.join(told)} The median takes {middle:.1f} s, the longest {seconds[-1]:.1f} s."


def main(arguments: list[str]) -> int:
    """Ask about kernels and print the table; 1 if an answer is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks prove_peers", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="all if none is named")
    parser.add_argument("--store", action="store_true", help="keep the results for the docs")
    options = parser.parse_args(arguments)
    asked = [each for each in peers() if not options.kernels or each.name in options.kernels]
    rows = [(peer, measured(peer)) for peer in asked]
    print("\n".join(table(rows)))
    if options.store:
        kept = {peer.name: asdict(found) for peer, found in rows}
        MEASURED.write_text(json.dumps(kept, indent=1) + "\n")
    wrong = [peer.name for peer, found in rows if not is_right(peer, found)]
    for name in wrong:
        print(f"wrong: {name}")
    return int(bool(wrong))

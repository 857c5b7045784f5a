"""Texts and words of the NPU's programs with seeded damage, and what becomes of the damaged.

A mutant is `REFUSED` by a parser, verifier or checker before anything runs, `FOUND` by a finding
or fault when it runs under checks, `EQUAL` if it gives the same results without a finding, and
`OTHER` if it gives others without one: then only a comparison of results (`assay diff`) tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.utils.exceptions import ParseError, VerifyException

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.hw.dialect import hw_parsed, hw_text
from assay.hal.status import StatusError
from assay.hal.torq.listing.module import executable_of, module_of
from assay.hal.torq.pack import pack
from assay.hw.torq.faults import TorqFault
from tests.compiler.torq.machine import Array
from tests.compiler.torq.test_mutants import every_word, run

REFUSED, FOUND, EQUAL, OTHER = "refused", "found", "equal", "other"
_NUMBER = re.compile(r"(?<![\w\"#%])-?(?:0x[0-9a-f]+|\d+)\b")
_WORD = re.compile(r"\b[A-Z][A-Z0-9]*\b")
_WORDS = ("DEDR", "DEWR", "DEQW", "XR", "SLC1", "A", "O", "J", "MAX", "ACC", "MUL", "DBYP", "T")
_MOVES = (1, -1, 2, 4, 8, -8, 64, -64, 256, 4096, 0x10000, 1 << 20, -(1 << 31), 1 << 33)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A program that is right: its inputs, results and listing."""

    program: Program
    inputs: dict[str, Array]
    results: dict[str, bytes]
    text: str

    @classmethod
    def of(cls, made: tuple[Program, dict[str, Array]]) -> Subject:
        """Of a program and inputs."""
        program, inputs = made
        results, findings = run(program, inputs, list(program.segments))
        assert results and not findings
        text = hw_text(module_of(pack(program, "mutant")))
        return cls(program=program, inputs=inputs, results=results, text=text)

    def verdict(self, segments: Sequence[tuple[int, bytes]]) -> str:
        """What becomes of the program with other bytes in XRAM."""
        try:
            results, findings = run(self.program, self.inputs, list(segments))
        except TorqFault:
            return REFUSED  # A segment lies where there is no memory.
        if findings or not results:
            return FOUND
        return EQUAL if results == self.results else OTHER


def text_verdict(subject: Subject, text: str) -> str:
    """What becomes of a damaged listing."""
    try:
        executable = executable_of(hw_parsed(text))
    except (ParseError, VerifyException, StatusError):
        return REFUSED
    segments = [(s.address, bytes(s.data)) for s in executable.segments if s.data is not None]
    return subject.verdict(segments)


def changed_word(subject: Subject, rng: random.Random) -> list[tuple[int, bytes]]:
    """The program's bytes with one or two of its command or descriptor words damaged."""
    segments = [(address, bytearray(data)) for address, data in subject.program.segments]
    words = list(every_word(subject.program))
    for _ in range(rng.randint(1, 2)):
        segment, index, word = rng.choice(words)
        new = rng.choice(
            [
                word ^ 1 << rng.randrange(32),
                word + rng.choice(_MOVES),
                0,
                rng.getrandbits(32),
                rng.choice(words)[2],
            ]
        )
        at = 4 * index
        segments[segment][1][at : at + 4] = (new & 0xFFFFFFFF).to_bytes(4, "little")
    return [(address, bytes(data)) for address, data in segments]


def changed_text(text: str, rng: random.Random, may: Callable[[str], bool]) -> str:
    """A text with a line taken away, doubled, swapped, or with one or two changes in lines that
    may be damaged."""
    lines = text.splitlines()
    places = [at for at, line in enumerate(lines) if may(line)]
    for _ in range(rng.randint(1, 2)):
        at = rng.choice(places)
        how = rng.randrange(8)
        if how == 0:
            lines[at] = ""
        elif how == 1:
            lines[at] += "\n" + lines[at]
        elif how == 2:
            other = rng.choice(places)
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = _changed_line(lines[at], rng)
    return "\n".join(lines)


def _changed_line(line: str, rng: random.Random) -> str:
    numbers, words = list(_NUMBER.finditer(line)), list(_WORD.finditer(line))
    tokens = list(re.finditer(r"%\w+", line))
    choices = [*numbers, *numbers, *words, *tokens]
    if not choices:
        return line[: rng.randrange(len(line) + 1)]
    found = rng.choice(choices)
    if found in numbers:
        new = _changed_number(found[0], rng)
    elif found in tokens:
        new = rng.choice(["", "%xr", "%slc0", found[0] + "_1"])
    else:
        new = rng.choice(_WORDS)
    return line[: found.start()] + new + line[found.end() :]


def _changed_number(text: str, rng: random.Random) -> str:
    value = int(text, 0)
    new = rng.choice([value + rng.choice(_MOVES), 2 * value, value // 2, -value, 0, 1 << 40])
    return str(new)


def is_command(line: str) -> bool:
    """Whether a line of a listing says what slices, transfers and the NSS do."""
    return ("torq_hw." not in line and "agent " in line) or any(
        f"torq_hw.{n}" in line for n in _OPS
    )


_OPS = ("slice_task", "slice_program", "dma_in", "dma_out", "slice_start", "wait", "next", "block")


def random_inputs(program: Program, seed: int) -> dict[str, Array]:
    """Bytes for a program's inputs."""
    chance = np.random.default_rng(seed)
    return {
        binding.name: chance.integers(0, 256, binding.size, np.uint8)
        for binding in program.bindings
        if not binding.is_output
    }

"""What an operation takes and gives, as rows write it: `"X #i32 -> X"`.

A word is a type of the IR (`i1`, `i64`, `float`, `ptr`, `void`), or a letter for any type of a
kind: `T` and `U` for numbers, `I` and `J` for integers, `F` and `G` for floats; equal letters stand
for equal types. `X` is the type of the kind of number that an instruction is of. `#` before an
operand says that it is a literal, `...` behind it that any number of such may follow, `*` that it
may be of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..llvm_types import bits, is_float

_KINDS: dict[str, Callable[[str], bool]] = {
    "T": lambda type: type not in ("void", "ptr"),
    "U": lambda type: type not in ("void", "ptr"),
    "I": lambda type: type.startswith("i"),
    "J": lambda type: type.startswith("i"),
    "F": is_float,
    "G": is_float,
}
_CALLED = {"T": "a number", "U": "a number", "I": "an integer", "J": "an integer"}
_CALLED |= {"F": "a float", "G": "a float"}


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a signature."""

    type: str
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """Operands, what further ones are (None if there can be none), and the result."""

    operands: tuple[Word, ...]
    rest: Word | None
    result: Word
    text: str

    def problem(self, operands: Sequence[tuple[str, bool]], result: str, number: str | None) -> str:
        """What is wrong with an instruction's types, as a clause; empty if nothing is.

        Args:
            operands: type of each operand, and whether it is a literal.
            result: type of the result.
            number: type of the kind of number that the instruction is of, if it is of one.
        """
        least = len(self.operands)
        if len(operands) < least or (len(operands) > least and self.rest is None):
            count = f"{least} or more" if self.rest is not None else str(least)
            return f"takes {count} operands ({self.text}), not {len(operands)}"
        bound = {} if number is None else {"X": number}
        words = [*self.operands, *[self.rest] * (len(operands) - least)]
        for place, (word, (type, is_literal)) in enumerate(zip(words, operands, strict=True)):
            assert word is not None
            if not _fits(word.type, type, bound):
                return f"takes {_called(word.type, bound)} as operand {place}, not {type}"
            if word.is_literal and not is_literal:
                return f"takes a literal as operand {place}"
        if not _fits(self.result.type, result, bound):
            return f"gives {_called(self.result.type, bound)}, not {result}"
        return ""


def _fits(word: str, type: str, bound: dict[str, str]) -> bool:
    if word == "*":
        return True
    if word in bound:
        return bound[word] == type
    kind = _KINDS.get(word)
    if kind is None:
        return word == type
    if kind(type):
        bound[word] = type
        return True
    return False


def _called(word: str, bound: dict[str, str]) -> str:
    return bound.get(word) or _CALLED.get(word, word)


def parse(text: str) -> Signature:
    """Read a signature. Raises ValueError for a word that is none."""
    operands, _, result = (part.strip() for part in text.partition("->"))
    words = [_word(word) for word in operands.split() if not word.endswith("...")]
    rest = [_word(word.removesuffix("...")) for word in operands.split() if word.endswith("...")]
    if len(rest) > 1 or (rest and not operands.endswith("...")):
        raise ValueError(f"{text!r}: only the last operand can be any number of such")
    return Signature(tuple(words), rest[0] if rest else None, _word(result), text)


def _word(text: str) -> Word:
    bare = text.removeprefix("#")
    if bare not in _KINDS and bare not in ("X", "*", "void", "ptr") and not is_float(bare):
        bits(bare)  # or ValueError
    return Word(bare, bare != text)

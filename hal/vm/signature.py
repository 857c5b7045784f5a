"""What is known of an exported function for people: names, types, whether it is asynchronous."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from .convention import Convention

_DECLARATION = re.compile(r"(sync|async) func @(.+?)\((.*?)\)(?: -> \((.*)\))?$", re.DOTALL)
_LETTERS = {"i": "i32", "I": "i64", "f": "f32", "F": "f64", "r": "ref"}
_SCALARS = {
    "i1": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionInfo:
    """An exported function. Types are text such as `tensor<4x8xf32>`, `i64` or `ref`.

    An asynchronous function (IREE's coarse fences) takes two fences after its arguments.
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    declaration: str
    asynchronous: bool

    @property
    def scalar_dtypes(self) -> tuple[np.dtype | None, ...]:
        """For each argument that is a scalar tensor its dtype, else None."""
        return tuple(
            _SCALARS.get(text[7:-1]) if text.startswith("tensor<") else None
            for text in self.arguments
        )


def describe(name: str, convention: Convention, attributes: Mapping[str, str]) -> FunctionInfo:
    """The function's information, from its declaration if the compiler left one."""
    declaration = attributes.get("iree.abi.declaration", "")
    # Importers export both forms, and name the asynchronous one so without an attribute.
    asynchronous = attributes.get("iree.abi.model") == "coarse-fences" or (
        name.endswith("$async") and convention.arguments[-2:] == ("r", "r")
    )
    letters = [_LETTERS.get(item, item) for item in convention.arguments]
    arguments = tuple(letters[:-2] if asynchronous else letters)
    results = tuple(_LETTERS[letter] for letter in convention.results)
    found = _DECLARATION.match(declaration)
    if found is not None:
        declared = _types(found[3]), _types(found[4] or "")
        # A declaration that disagrees with the convention is of no use.
        if (len(declared[0]), len(declared[1])) == (len(arguments), len(results)):
            arguments, results = declared
    return FunctionInfo(
        name=name,
        arguments=arguments,
        results=results,
        declaration=declaration,
        asynchronous=asynchronous,
    )


def _types(text: str) -> tuple[str, ...]:
    """The types of `%a: tensor<4xf32> {attributes}, %b: i32`; names and attributes dropped."""
    parts: list[str] = []
    depth = start = 0
    for position, letter in enumerate(text):
        depth += (letter in "<{([") - (letter in ">})]" and text[position - 1] != "-")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    if text.strip():
        parts.append(text[start:])
    return tuple(_type(part) for part in parts)


def _type(part: str) -> str:
    name, separator, rest = part.partition(":")
    text = rest if separator and name.strip().startswith("%") else part
    return text.partition(" {")[0].strip()

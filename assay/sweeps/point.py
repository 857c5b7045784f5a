"""One point of a space: a kernel by its knobs, a size, and a chip."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from .knobs import Value

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A kernel of a product; the same for all sizes and chips.

    Attributes:
        variant: its name in `VARIANTS`, or in the space's `makers`.
        knobs: what was chosen, by name; the rest is as the variant has it.
        policy: the format of the weights.
        element: of x and y: "half" or "float".
        maker: file and function of a user's own kernel, and the digest of the file.
    """

    variant: str
    knobs: tuple[tuple[str, Value], ...] = ()
    policy: str = "fp4_128"
    element: str = "half"
    maker: tuple[str, str] | None = None

    @property
    def label(self) -> str:
        """Variant and knobs as people write them: `gemv_columns rows_per_lane=2 unroll=4`."""
        return " ".join([self.variant, *(f"{name}={value}" for name, value in self.knobs)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A recipe for y [m, n] = x [m, k] W^T on a chip.

    `warm` is whether caches hold what an earlier run left.
    """

    recipe: Recipe
    m: int
    n: int
    k: int
    chip: str
    warm: bool = True
    key: str = field(init=False, compare=False)
    """The same for the same point and the same model of the chips, and for no other."""

    def __post_init__(self) -> None:
        text = json.dumps([self.as_json(), model()], sort_keys=True)
        digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
        object.__setattr__(self, "key", digest)

    @property
    def size(self) -> Size:
        """m, n, k."""
        return self.m, self.n, self.k

    def as_json(self) -> dict[str, Any]:
        """As worker processes get it."""
        recipe = self.recipe
        return {
            "variant": recipe.variant,
            "knobs": [list(pair) for pair in recipe.knobs],
            "policy": recipe.policy,
            "element": recipe.element,
            "maker": list(recipe.maker) if recipe.maker else None,
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "chip": self.chip,
            "warm": self.warm,
        }


def point_of(given: Mapping[str, Any]) -> Point:
    """The point that `as_json` wrote."""
    maker = given["maker"]
    recipe = Recipe(
        variant=given["variant"],
        knobs=tuple((name, value) for name, value in given["knobs"]),
        policy=given["policy"],
        element=given["element"],
        maker=(maker[0], maker[1]) if maker else None,
    )
    sizes = {name: given[name] for name in ("m", "n", "k", "chip", "warm")}
    return Point(recipe=recipe, **sizes)


@cache
def model() -> str:
    """What predicts: Assay's version, and a digest of the facts about chips."""
    from .. import __version__

    digest = hashlib.blake2b(digest_size=6)
    for each in sorted(resources.files("assay.hw.apple.facts").iterdir(), key=lambda x: x.name):
        if each.name.endswith(".toml"):
            digest.update(each.read_bytes())
    return f"{__version__}+{digest.hexdigest()}"

"""Which kernel for which sizes: what tuning found, as a file, and as conditional kernels."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from assay.compiler.foundry.conditions import Conditional
from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import format_of

from ..foundry.kernel import Kernel
from .errors import SweepError
from .makers import digest_of
from .measure import maker_of
from .point import Recipe, Size
from .variants import SCALARS

VERSION: Final = 1
_HEAD: Final = """\
# Which kernel is the fastest, by size and chip. `assay tune` wrote it, and writes it again;
# assay.read_selector(...) reads it. `when` holds for one kernel of a table, whatever the size.
"""
_SIDES: Final = range(1, 1 << 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A kernel, for the sizes that meet a condition on m, n and k; `sizes` were tuned."""

    when: str
    recipe: Recipe
    sizes: tuple[Size, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Selector:
    """Kernels for products y [m, n] = x [m, k] W^T.

    Attributes:
        name: for messages.
        model: what predicted: Assay's version, and a digest of the facts about chips.
        choices: by the format of the weights and the chip.
    """

    name: str
    model: str
    choices: Mapping[tuple[str, str], Sequence[Choice]] = field(repr=False)

    def conditional(self, chip: str, policy: str = "fp4_128") -> Conditional[Recipe]:
        """The kernels for a chip, behind conditions on m, n and k.

        That one condition holds for any size is proved. Raises SweepError for what was not tuned.
        """
        if (policy, chip) not in self.choices:
            known = ", ".join(f"{each} on {on}" for each, on in self.choices)
            raise SweepError(f"{self.name}: {policy} on {chip} was not tuned; there is {known}")
        if (policy, chip) not in self._proved:
            variables = dict.fromkeys(("m", "n", "k"), _SIDES)
            variants = [(each.when, each.recipe) for each in self.choices[policy, chip]]
            made: Conditional[Recipe] = Conditional(f"{self.name} {chip}", variables, variants)
            self._proved[policy, chip] = made
        return self._proved[policy, chip]

    def recipe(self, size: Size, *, chip: str, policy: str = "fp4_128") -> Recipe:
        """The kernel for a size. Raises SweepError for what was not tuned."""
        m, n, k = size
        return self.conditional(chip, policy).select(m=m, n=n, k=k)

    def product(self, rows: int, *, chip: str, policy: str = "fp4_128") -> Product:
        """A product with a matrix of `rows` rows, whose kernel is chosen at each call."""
        return Product(self.conditional(chip, policy), rows, chip)

    def save(self, path: str | Path) -> None:
        """Write it as TOML."""
        Path(path).write_text("".join(self._lines()), encoding="utf-8")

    @cached_property
    def _proved(self) -> dict[tuple[str, str], Conditional[Recipe]]:
        return {}

    def _lines(self) -> Iterator[str]:
        yield _HEAD
        yield f"\nversion = {VERSION}\nname = {_toml(self.name)}\nmodel = {_toml(self.model)}\n"
        for (policy, chip), choices in self.choices.items():
            yield f"\n[[tuned]]\nchip = {_toml(chip)}\npolicy = {_toml(policy)}\n"
            for each in choices:
                recipe = each.recipe
                knobs = ", ".join(f"{name} = {_toml(value)}" for name, value in recipe.knobs)
                yield f"\n[[tuned.kernels]]\nwhen = {_toml(each.when)}\n"
                yield f"variant = {_toml(recipe.variant)}\nelement = {_toml(recipe.element)}\n"
                yield f"knobs = {{ {knobs} }}\n" if knobs else "knobs = {}\n"
                yield f"maker = {_toml(recipe.maker[0])}\n" if recipe.maker else ""
                yield f"sizes = {json.dumps(each.sizes)}\n"


def read_selector(path: str | Path) -> Selector:
    """A selector that was saved. Raises SweepError."""
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        if given.get("version") != VERSION:
            raise SweepError(f"{path}: is no selector of version {VERSION}")
        choices = {
            (str(table["policy"]), str(table["chip"])): tuple(
                _choice(each, str(table["policy"])) for each in table["kernels"]
            )
            for table in given["tuned"]
        }
        found = Selector(name=given["name"], model=given["model"], choices=choices)
        for policy, chip in found.choices:
            found.conditional(chip, policy)
        return found
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, FoundryError) as error:
        raise SweepError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise SweepError(f"{path}: is no selector that `assay tune` wrote ({error!r})") from None


class Product:
    """y = x W^T by the kernel that is best for the size of x; called as a `Kernel`.

    Args:
        conditional: what chooses it.
        rows: of the matrix.
        chip: which `time` predicts for, unless another is given.
    """

    def __init__(self, conditional: Conditional[Recipe], rows: int, chip: str) -> None:
        self._conditional = conditional
        self._rows = rows
        self._chip = chip
        self._made: dict[Recipe, Kernel] = {}

    def kernel(self, x: Any) -> Kernel:
        """The kernel for x [..., k]."""
        *batch, k = x.shape
        m = 1
        for each in batch:
            m *= each
        recipe = self._conditional.select(m=m, n=self._rows, k=k)
        if recipe not in self._made:
            weights, element = format_of(recipe.policy), SCALARS[recipe.element]
            made, grid = maker_of(recipe)(weights, self._rows, element, **dict(recipe.knobs))
            self._made[recipe] = Kernel(made, grid=grid)
        return self._made[recipe]

    def __call__(self, *, x: Any, **given: Any) -> Any:
        """The product; arguments and errors are those of the kernel."""
        return self.kernel(x)(x=x, **given)

    def check(self, *, x: Any, **given: Any) -> Any:
        """Runs the kernel under all checks; what they found."""
        return self.kernel(x).check(x=x, **given)

    def time(self, *, x: Any, chip: str | None = None, **given: Any) -> Any:
        """How long the kernel takes."""
        return self.kernel(x).time(chip=chip or self._chip, x=x, **given)


def _choice(given: Mapping[str, Any], policy: str) -> Choice:
    maker = given.get("maker")
    recipe = Recipe(
        variant=given["variant"],
        knobs=tuple(given["knobs"].items()),
        policy=policy,
        element=given["element"],
        maker=(maker, digest_of(maker)) if maker else None,
    )
    maker_of(recipe)
    sizes = tuple((int(m), int(n), int(k)) for m, n, k in given["sizes"])
    return Choice(when=given["when"], recipe=recipe, sizes=sizes)


def _toml(value: object) -> str:
    """A string or a number; JSON's notation of both is TOML's."""
    return json.dumps(value, ensure_ascii=False)

"""Reads declarations of spaces: which kernels are tried, for which sizes, on which chips."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any, Final

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import format_of
from assay.hw.apple.facts.chips import chip, chips
from assay.hw.facts import SpecError
from assay.sim.names import choices

from .constraints import Constraint
from .errors import SweepError
from .knobs import Value
from .makers import digest_of, maker_of, variant_of
from .point import Recipe, Size
from .points import Space
from .variants import SCALARS, VARIANTS, Variant

_ENTRIES: Final = ("name", "element", "caches", "axes", "variants", "makers", "constraints")
_SIZES: Final = ("m", "n", "k")
_FIXED: Final = ("variant", "policy", "chip", "sizes", *_SIZES)
_CACHES: Final = {"warm": True, "cold": False}


def space(given: Mapping[str, Any], *, folder: Path | None = None, name: str = "space") -> Space:
    """The space of a declaration, as a TOML file has it; relative paths begin at `folder`.

    Raises SweepError.
    """
    return _Declaration(given, folder or Path(), name).space()


def read_space(path: Path) -> Space:
    """The space of a TOML file, or of a Python file, in which `space` is it. Raises SweepError."""
    if path.suffix == ".py":
        return _from_python(path)
    if path.suffix != ".toml":
        raise SweepError(f"{path}: expected a name that ends in .toml or .py")
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SweepError(f"{path}: {error}") from None
    try:
        return space(given, folder=path.parent, name=path.stem)
    except SweepError as error:
        raise SweepError(f"{path}: {error}") from None


def _from_python(path: Path) -> Space:
    import runpy

    path.read_bytes()  # what cannot be read is an OSError with the file's name
    try:
        found = runpy.run_path(str(path)).get("space")
    except SweepError:
        raise
    except Exception as error:
        raise SweepError(f"{path}: {type(error).__name__}: {error}") from None
    if isinstance(found, Mapping):
        return space(found, folder=path.parent, name=path.stem)
    if not isinstance(found, Space):
        raise SweepError(f"{path}: expected `space`: a dict, or what assay.space(...) makes")
    return found


class _Declaration:
    """Reads a declaration; messages name the entry."""

    def __init__(self, given: Mapping[str, Any], folder: Path, name: str) -> None:
        self._given = given
        self._name = given.get("name", name)
        self._folder = folder
        self._known(given, _ENTRIES, "entry")
        self._makers = {
            str(key): maker_of(value, folder) for key, value in self._table("makers").items()
        }
        self._own = {str(k): self._inner(k, v) for k, v in self._table("variants").items()}
        self._axes = {str(k): _values(f"axes.{k}", v) for k, v in self._table("axes").items()}

    def space(self) -> Space:
        recipes = tuple(self._recipes())
        sizes = tuple(self._sizes())
        on = tuple(self._chips())
        space = Space(
            name=str(self._name), recipes=recipes, sizes=sizes, chips=on, warm=self._warm()
        )
        texts = self._given.get("constraints", [])
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise SweepError("constraints: expected a list of conditions")
        constraints = tuple(Constraint.read(text, space.points) for text in texts)
        return Space(
            name=space.name,
            recipes=recipes,
            sizes=sizes,
            chips=on,
            constraints=constraints,
            warm=space.warm,
        )

    def _recipes(self) -> Iterator[Recipe]:
        names = [*self._axes.get("variant", ()), *self._own]
        if not names:
            raise SweepError('axes.variant: no kernel is named, as variant = ["gemv_columns"]')
        variants = {str(name): self._variant(str(name)) for name in names}
        self._check_axes(variants)
        element = self._given.get("element", "half")
        if element not in SCALARS:
            raise SweepError(f"element: expected {' or '.join(SCALARS)}, not {element!r}")
        for name, variant in variants.items():
            maker = self._makers.get(name)
            signed = (maker, digest_of(maker)) if maker else None
            chosen = self._chosen(name, variant)
            for values in product(*chosen.values()):
                knobs = tuple(zip(chosen, values, strict=True))
                for policy in self._policies():
                    yield Recipe(
                        variant=name, knobs=knobs, policy=policy, element=element, maker=signed
                    )

    def _variant(self, name: str) -> Variant:
        if name in self._makers:
            return variant_of(self._makers[name])
        if name not in VARIANTS:
            known = choices(name, [*VARIANTS, *self._makers])
            raise SweepError(f"variant {name!r} is not known; {known}")
        return VARIANTS[name]

    def _chosen(self, name: str, variant: Variant) -> dict[str, tuple[Value, ...]]:
        """Values of the knobs that a variant has: its own ones, or those of all variants."""
        own = self._own.get(name, {})
        self._known(own, variant.knobs, f"knob of {name}")
        chosen: dict[str, tuple[Value, ...]] = {}
        for knob, (read, expected) in variant.knobs.items():
            given = own.get(knob) or self._axes.get(knob)
            if given is None:
                continue
            values = tuple(found for each in given if (found := read(each)) is not None)
            # An axis of all variants may have values for other ones.
            if not values or (knob in own and len(values) < len(given)):
                wrong = next(each for each in given if read(each) is None)
                raise SweepError(f"{knob} of {name} cannot be {wrong!r}; expected {expected}")
            chosen[knob] = values
        return chosen

    def _check_axes(self, variants: Mapping[str, Variant]) -> None:
        knobs = {name for each in variants.values() for name in each.knobs}
        self._known(self._axes, [*_FIXED, *sorted(knobs)], "axis")

    def _policies(self) -> Iterator[str]:
        for name in self._axes.get("policy", ("fp4_128",)):
            try:
                yield format_of(str(name)).name
            except FoundryError as error:
                raise SweepError(f"axes.policy: {error}") from None

    def _sizes(self) -> Iterator[Size]:
        if "sizes" in self._axes:
            if any(name in self._axes for name in _SIZES):
                raise SweepError("axes.sizes: m, n and k are given, too; it is either of both")
            for each in self._axes["sizes"]:
                m, n, k = _three(each)
                yield m, n, k
            return
        for name in ("n", "k"):
            if name not in self._axes:
                raise SweepError(
                    f"axes.{name}: there is none; products are y [m, n] = x [m, k] W^T"
                )
        for name in _SIZES:
            for each in self._axes.get(name, (1,)):
                _positive(f"axes.{name}", each)
        yield from product(self._axes.get("m", (1,)), self._axes["n"], self._axes["k"])

    def _chips(self) -> Iterator[str]:
        if "chip" not in self._axes:
            raise SweepError('axes.chip: no chip is named, as chip = ["m1", "m4-max"] or "m4*"')
        for pattern in map(str, self._axes["chip"]):
            found = [name for name in chips() if fnmatchcase(name, pattern)]
            try:
                yield from found or [chip(pattern).key]
            except SpecError as error:
                raise SweepError(f"axes.chip: {error}") from None

    def _warm(self) -> bool:
        caches = self._given.get("caches", "warm")
        if caches not in _CACHES:
            raise SweepError(f"caches: expected warm or cold, not {caches!r}")
        return _CACHES[caches]

    def _table(self, name: str) -> Mapping[str, Any]:
        found = self._given.get(name, {})
        if not isinstance(found, Mapping):
            raise SweepError(f"{name}: expected a table")
        return found

    def _inner(self, name: str, given: object) -> dict[str, tuple[Any, ...]]:
        if not isinstance(given, Mapping):
            raise SweepError(f"variants.{name}: expected a table of knobs")
        return {str(k): _values(f"variants.{name}.{k}", v) for k, v in given.items()}

    def _known(self, given: Iterable[str], known: Iterable[str], what: str) -> None:
        names = list(known)
        for name in given:
            if name not in names:
                raise SweepError(f"there is no {what} {name!r}; {choices(name, names)}")


def _values(where: str, given: object) -> tuple[Any, ...]:
    """A list of values, or a single one."""
    found = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    if not found:
        raise SweepError(f"{where}: an empty list")
    return found


def _three(given: object) -> Size:
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 3:
        m, n, k = (_positive("axes.sizes", each) for each in given)
        return m, n, k
    raise SweepError(f"axes.sizes: expected [m, n, k], not {given!r}")


def _positive(where: str, given: object) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    raise SweepError(f"{where}: expected numbers from 1 on, not {given!r}")

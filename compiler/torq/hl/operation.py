"""What TorqHL's operations have in common: how they are made, read and written."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict
from xdsl.utils.exceptions import VerifyException

from ...graph.elements import LIMITS
from .attributes import RescaleAttr, attribute_of, value_of
from .tiles import TILES, Tiles, TilesAttr
from .types import Tensor, TensorAttr, tensor_of

WAY = "way"
"""Attribute: how an operator of the model came to the NPU: direct, general or host."""


def form(*operands: str) -> str:
    """The text of an operation with these operands and the result y."""
    names = " `,` ".join(f"${name}" for name in operands)
    types = " `,` ".join(f"type(${name})" for name in operands)
    if not operands:
        return "attr-dict `:` type($y)"
    return f"{names} attr-dict `:` `(` {types} `)` `->` type($y)"


class HlOp(IRDLOperation, ABC):
    """An operation with one result, `y`."""

    irdl_options = (ParsePropInAttrDict(),)
    DEFAULTS: ClassVar[dict[str, Any]] = {}
    """What fields are that are not written."""

    @classmethod
    def make(
        cls,
        operands: list[SSAValue],
        y: Tensor,
        /,
        *,
        location: LocationAttr | None = None,
        way: str = "",
        **fields: Any,
    ) -> Self:
        """An operation; fields are given as Python values, those that are None or usual not."""
        usual = cls.DEFAULTS
        given = {
            key: attribute_of(value)
            for key, value in fields.items()
            if value is not None and not (key in usual and usual[key] == value)
        }
        made = cls.create(
            operands=operands,
            result_types=[TensorAttr(y)],
            properties=given,
            attributes={WAY: StringAttr(way)} if way else {},
        )
        if location is not None:
            made.location = location
        return made

    def verify(self, verify_nested_ops: bool = True) -> None:
        """As of every operation; limits of a scaling are numbers that the result can have."""
        super().verify(verify_nested_ops)
        stated = self.attributes.get(TILES)
        require(
            stated is None or isinstance(stated, TilesAttr),
            f"{TILES} = {stated} is no #torq_hl.tiles",
        )
        scaling = self.properties.get("rescale")
        if isinstance(scaling, RescaleAttr) and self.type.dtype in LIMITS:
            low, high = LIMITS[self.type.dtype]
            require(
                low <= scaling.data.low and scaling.data.high <= high,
                f"a range from {scaling.data.low} to {scaling.data.high} of {self.type.dtype}",
            )

    @property
    def value(self) -> SSAValue:
        """The result."""
        return self.results[0]

    @property
    def type(self) -> Tensor:
        """What the result's type says."""
        return tensor_of(self.results[0])

    @property
    def fields(self) -> dict[str, Any]:
        """All fields as Python values, the usual ones too."""
        given = {key: value_of(value) for key, value in self.properties.items()}
        return {**self.DEFAULTS, **given}

    def field(self, name: str) -> Any:
        """One field as a Python value; None if it is not there."""
        found = self.properties.get(name)
        return self.DEFAULTS.get(name) if found is None else value_of(found)

    @property
    def way(self) -> str:
        """How the model's operator came to the NPU; empty of helpers."""
        found = self.attributes.get(WAY)
        return found.data if isinstance(found, StringAttr) else ""

    @property
    def tiles(self) -> Tiles | None:
        """How the result is made tile by tile, if that was chosen."""
        found = self.attributes.get(TILES)
        return found.data if isinstance(found, TilesAttr) else None

    @tiles.setter
    def tiles(self, tiles: Tiles) -> None:
        self.attributes[TILES] = TilesAttr(tiles)


def require(condition: bool, reason: str) -> None:
    """Raises VerifyException unless the condition holds."""
    if not condition:
        raise VerifyException(reason)


def require_numbers(op: HlOp, count: int, least: int, *names: str) -> None:
    """Raises VerifyException unless each of these fields is so many numbers, none of them less."""
    for name in names:
        numbers = op.field(name)
        fits = isinstance(numbers, tuple) and len(numbers) == count and min(numbers) >= least
        require(fits, f"{op.name}: {name} is {numbers}, not {count} numbers from {least} on")

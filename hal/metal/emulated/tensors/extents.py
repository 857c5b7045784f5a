"""MTLTensorExtents: sizes, strides or places, one number for each dimension."""

from collections.abc import Sequence

from ..errors import MetalValidationError
from ..objects import Allocated, MetalObject, call_of, expect
from ..structs import as_integer, as_list

MTL_TENSOR_MAX_RANK = 16


class MTLTensorExtents(Allocated, MetalObject):
    """Numbers of a tensor's dimensions, of which the first is the innermost."""

    def __init__(self, values: Sequence[int] = (1,)) -> None:
        self.values = tuple(values)

    def initWithRank_values_(
        self, rank: int, values: Sequence[int] | None
    ) -> "MTLTensorExtents | None":
        """`rank` numbers; None if there are more than 16 dimensions, or no values for any."""
        where = call_of(self)
        rank = as_integer(where, "the rank", rank)
        if rank and (values is None or rank > MTL_TENSOR_MAX_RANK):
            return None
        given = as_list(where, "the values", () if values is None else tuple(values), rank)
        self.values = tuple(as_integer(where, "a value", each) for each in given)
        return self

    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.values)

    def extentAtDimensionIndex_(self, dimension: int) -> int:
        """The number of a dimension; -1 if there is none."""
        at = as_integer(call_of(self), "the dimension", dimension)
        return self.values[at] if 0 <= at < len(self.values) else -1

    def __repr__(self) -> str:
        return f"<MTLTensorExtents {self.values}>"


def numbers(where: str, what: str, given: MTLTensorExtents, rank: int) -> tuple[int, ...]:
    """`rank` numbers that are not negative. Raises MetalValidationError."""
    values = expect(where, what, given, MTLTensorExtents).values
    if len(values) != rank or min(values, default=0) < 0:
        raise MetalValidationError(
            f"{where}: {what} are {values}; {rank} numbers are needed, none of them negative"
        )
    return values

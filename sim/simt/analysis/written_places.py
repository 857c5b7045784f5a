"""Which lanes of a simdgroup may write where another one does."""

from __future__ import annotations

from ..ir.llvm_types import Scalar, bits, size_of
from ..ir.nodes import AddressRoot, Instruction
from ..ir.shape import LANES
from .divergence import Divergence
from .linear import LinearForms
from .linear_form import Form

_EVERYBODY = tuple(range(LANES))


class WrittenPlaces:
    """Answers for the stores of one function."""

    def __init__(self, divergence: Divergence, linear: LinearForms) -> None:
        self._divergence = divergence
        self._linear = linear
        self._found: dict[tuple[Instruction, int], tuple[int, ...]] = {}

    def crossed(self, store: Instruction, lane: int) -> tuple[int, ...]:
        """Lanes that may write another value to bytes that a lane writes, as far as is known."""
        key = (store, lane)
        if key not in self._found:
            self._found[key] = self._find(store, lane)
        return self._found[key]

    def _find(self, store: Instruction, lane: int) -> tuple[int, ...]:
        assert store.block is not None
        if not any(self._divergence.is_varying(each) for each in store.operands[1:]):
            same_values = True
        else:
            same_values = False
        root = store.root
        if isinstance(root, AddressRoot) and self._divergence.is_varying(root.address):
            return _EVERYBODY
        form = self._linear.of(store.operands[0], store.block)
        if form is None:
            return _EVERYBODY
        if form.is_uniform and same_values:
            return ()
        size = size_of(Scalar(store.element)) * store.components
        return tuple(
            other
            for other in range(LANES)
            if other != lane and not _apart(form, lane, other, size, same_values=same_values)
        )


def _apart(form: Form, lane: int, other: int, size: int, *, same_values: bool) -> bool:
    """Whether two lanes never write to the same byte, or only the same bytes' same value.

    Where a narrow index wraps before it is extended, offsets are a multiple of its range away from
    what the form says.
    """
    if any(pattern[lane] != pattern[other] for _, pattern in form.terms):
        return False
    distance = form.lanes[other] - form.lanes[lane]
    if distance == 0 and same_values:
        return True
    widths = [bits(guard.form.base.type) for guard in form.guards]
    around = 1 << min([*widths, 64])
    return size <= distance % around <= around - size

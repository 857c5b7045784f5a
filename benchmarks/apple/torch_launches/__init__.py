"""How PyTorch 2.6.0 launches the kernels of its library, as its host code binds buffers and grids.

Sizes are small: one threadgroup where the host makes one for each thousand of elements, and tiles
of which the last are cut. Kernels of several ways have a launch for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .elements import elements
from .images import images
from .indexing import indexing
from .optimizers import optimizers
from .products import products
from .searches import searches
from .sequences import sequences
from .values import Launch

_FAMILIES: tuple[Callable[[str], Sequence[Launch]], ...] = (
    elements,
    indexing,
    searches,
    images,
    sequences,
    products,
    optimizers,
)


def launches_of(kernel: str) -> tuple[Launch, ...]:
    """What PyTorch's host gives a kernel of this name; nothing if that is not written here."""
    return next((tuple(found) for family in _FAMILIES if (found := family(kernel))), ())

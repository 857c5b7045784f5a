"""Parameter structs of kernels, declared in Python and laid out as MSL does."""

from .declare import HostOnly, Member, Named, Struct, array, layout_of, pack, struct, waits_for
from .dynamic import DynamicValue, dynamic

__all__ = [
    "DynamicValue",
    "HostOnly",
    "Member",
    "Named",
    "Struct",
    "array",
    "dynamic",
    "layout_of",
    "pack",
    "struct",
    "waits_for",
]

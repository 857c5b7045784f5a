"""The format as a C header, so that a runtime in another language can be written.

It numbers the slots of every table, the kinds of instructions, places and operations; how a
FlatBuffer is read is left to the reader, as https://flatbuffers.dev/internals/ says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Final

from . import records
from .codec import kinds
from .expressions import OPERANDS, Op
from .file import ALIGNMENT
from .records import IDENTIFIER, INSTRUCTIONS, VERSION, Place

_TABLES: Final = tuple(
    kind for kind in vars(records).values() if hasattr(kind, "__dataclass_fields__")
)
_HEAD: Final = f"""\
/* Assay modules, version {VERSION}; made of hal/module/records.py. module.fbs says
   what fields mean.

   A file is:
   u32 size | FlatBuffer of that size | zeros to a multiple of {ALIGNMENT} | segments | SHA-256

   A segment's offset counts from behind those zeros; each begins at a multiple of {ALIGNMENT},
   right behind the one before, filled up with zeros. The 32 bytes at the end are the SHA-256 of the
   size and the FlatBuffer. Numbers are little-endian. ASSAY_<TABLE>_<FIELD> is the slot of a field
   in the table's vtable: its offset is the u16 at byte 4 + 2 * slot of the vtable, if the vtable is
   that long, and not 0. An instruction is a table of two slots: the kind (u8), and the table of
   that kind. */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H
"""


def c_header() -> str:
    """The header."""
    return "\n".join([_HEAD, *_lines(), "", "#endif", ""])


def _lines() -> Iterator[str]:
    yield f'#define ASSAY_IDENTIFIER "{IDENTIFIER.decode()}" /* at byte 8 of the file */'
    yield f"#define ASSAY_VERSION {VERSION}"
    yield f"#define ASSAY_ALIGNMENT {ALIGNMENT}"
    yield f"#define ASSAY_NONE ({records.NONE}) /* no record; a size that is not known */"
    yield from _enumeration("place", _members(Place))
    yield from _enumeration("op", [(op.name, op.value, _operands(op)) for op in Op])
    names = [_upper(kind.__name__) for kind in INSTRUCTIONS]
    yield from _enumeration("action", [(name, at, "") for at, name in enumerate(names, 1)])
    yield from _enumeration("instruction", [("KIND", 0, "u8"), ("TABLE", 1, "")])
    for table in _TABLES:
        fields = [
            (name.upper(), slot, _type(kind, item))
            for slot, (name, kind, item) in enumerate(kinds(table))
        ]
        yield from _enumeration(table.__name__.lower(), fields)


def _members(kind: type[IntEnum]) -> list[tuple[str, int, str]]:
    return [(member.name, member.value, "") for member in kind]


def _operands(op: Op) -> str:
    count = OPERANDS.get(op, 0)
    return f"{count} operand{'s' if count > 1 else ''}" if count else ""


def _type(kind: str, item: type | None) -> str:
    if kind == "[union]":
        return "[Instruction]"
    return kind if item is None else f"[{item.__name__}]"


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def _enumeration(name: str, members: Iterable[tuple[str, int, str]]) -> Iterator[str]:
    yield ""
    yield f"enum assay_{name} {{"
    for member, value, comment in members:
        said = f" /* {comment} */" if comment else ""
        yield f"    ASSAY_{name.upper()}_{member} = {value},{said}"
    yield "};"

"""Command lists as JSON: the same objects, field by field, with every value checked.

A program is `{"kind": "slice" | "nss", "address": ..., "tasks": [...]}`; other keys are the field
names of the classes in `commands`, and what is left out has its default. Numbers may be written as
text in hexadecimal, `"0x1000"`; letters such as ACC are text; a dimension is
`{"count": 16, "stride": 1, "tag": "D"}`.
"""

import json
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import TypeVar

from .commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask

Program = SliceProgram | NssProgram
Made = TypeVar("Made", Dim, Ndl, SliceTask, NssTask, SliceProgram, NssProgram)
_KINDS = ("slice", "nss")


class CommandError(ValueError):
    """A command list is not one; the message says where and what was expected."""


def loads(text: str | bytes) -> Program:
    """A program from JSON text. Raises CommandError."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise CommandError("not a command list: it is nested too deeply") from error
    except ValueError as error:
        raise CommandError(f"not a command list: {error}") from error
    return from_json(value)


def dumps(program: Program) -> str:
    """A program as indented JSON text."""
    return json.dumps(to_json(program), indent=1) + "\n"


def from_json(value: object) -> Program:
    """A program from parsed JSON. Raises CommandError, naming the place as `tasks[0].ndls[2]`."""
    if not isinstance(value, dict):
        raise CommandError(f"a program is an object, and this is {_kind(value)}")
    entries = dict(value)
    kind = entries.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise CommandError(f'"kind" must be one of {", ".join(_KINDS)}, and is {kind!r}')
    if kind == "slice":
        return _make(SliceProgram, entries, "")
    return _make(NssProgram, entries, "")


def to_json(program: Program) -> dict[str, object]:
    """A program as JSON values; fields that have their default are left out."""
    kind = "slice" if isinstance(program, SliceProgram) else "nss"
    return {"kind": kind, **_plain(program)}


def _plain(value: object) -> dict[str, object]:
    assert isinstance(value, Dim | Ndl | SliceTask | NssTask | SliceProgram | NssProgram)
    found: dict[str, object] = {}
    for field in _encoded(type(value)):
        item = getattr(value, field.name)
        if field.default is MISSING or item != field.default:
            found[field.name] = _plain_item(item)
    return found


def _encoded(cls: type[object]) -> list[Field[object]]:
    """The fields that say what the words are; notes do not."""
    return [field for field in fields(cls) if field.compare]  # type: ignore[arg-type]


def _plain_item(item: object) -> object:
    if isinstance(item, tuple):
        return [_plain_item(part) for part in item]
    if isinstance(item, int | str) or item is None:
        return item
    return _plain(item)


def _make(cls: type[Made], value: object, where: str) -> Made:
    if not isinstance(value, dict):
        raise CommandError(f"{where}: {cls.__name__} is an object, and this is {_kind(value)}")
    known = {field.name: field for field in _encoded(cls)}
    if unknown := sorted(str(key) for key in value if key not in known):
        raise CommandError(f"{_at(where)}has {', '.join(unknown)}; there are {', '.join(known)}")
    required = [name for name, field in known.items() if field.default is MISSING]
    if missing := [name for name in required if name not in value]:
        raise CommandError(f"{_at(where)}lacks {', '.join(missing)}")
    read: dict[str, object] = {}
    for name, item in value.items():
        place = f"{where}.{name}" if where else name
        read[name] = _reader(cls, name)(item, place)
    build: Callable[..., Made] = cls
    return build(**read)


def _reader(cls: type[object], name: str) -> Callable[[object, str], object]:
    """What reads the field `name` of `cls`."""
    if name in ("low", "high", "special"):
        return lambda value, where: _many(Dim, value, where)
    if name == "ndls":
        return lambda value, where: _many(Ndl, value, where)
    if name == "tasks":
        if cls is SliceProgram:
            return lambda value, where: _many(SliceTask, value, where)
        return lambda value, where: _many(NssTask, value, where)
    if name in ("slc_start", "slc_wait"):
        return lambda value, where: _items(_flag, value, where, 2)
    if name == "slc_cfg_addr":
        return lambda value, where: _items(_number, value, where, 2)
    if name in ("act_lsh", "css_mbx"):
        return lambda value, where: _items(_number, value, where, 4)
    if name == "table":
        return lambda value, where: None if value is None else _items(_number, value, where)
    if name in ("address", "xram_address", "descriptor_address"):
        return lambda value, where: None if value is None else _number(value, where)
    default = next(field.default for field in fields(cls) if field.name == name)  # type: ignore[arg-type]
    if name == "agent" or isinstance(default, str):
        return _word
    return _flag if isinstance(default, bool) else _number


def _many(cls: type[Made], value: object, where: str) -> tuple[Made, ...]:
    if not isinstance(value, list):
        raise CommandError(f"{where}: must be a list, and is {_kind(value)}")
    return tuple(_make(cls, item, f"{where}[{index}]") for index, item in enumerate(value))


def _items(
    read: Callable[[object, str], object], value: object, where: str, count: int | None = None
) -> tuple[object, ...]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        many = "" if count is None else f" of {count}"
        raise CommandError(f"{where}: must be a list{many}, and is {_kind(value)}")
    return tuple(read(item, f"{where}[{index}]") for index, item in enumerate(value))


def _number(value: object, where: str) -> int:
    if isinstance(value, str):
        try:
            return int(value, 16) if value.lower().lstrip("-").startswith("0x") else int(value)
        except ValueError:
            raise CommandError(f"{where}: {value!r} is not a number") from None
    if not isinstance(value, int) or isinstance(value, bool):
        raise CommandError(f"{where}: must be a whole number, and is {_kind(value)}")
    return value


def _flag(value: object, where: str) -> bool:
    if value in (0, 1) and isinstance(value, int):
        return bool(value)
    raise CommandError(f"{where}: must be true or false, and is {_kind(value)}")


def _word(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise CommandError(f"{where}: must be text, and is {_kind(value)}")
    return value


def _at(where: str) -> str:
    return f"{where}: " if where else "the program "


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), repr(value)[:40])

"""Notes of a compiler as JSON, which an executable carries and anybody can write.

`{"symbols": [[memory, start, stop, name]], "padding": [[memory, start, stop]],
"slice_programs": {"0x5a00": [task]}, "slice_runs": [["SLC0", "0x5a00", [task]]],
"transfers": [task], "places": [[memory, start, stop, name]], "hardware": text, "cycles": number,
"lram_peak": number}`; a task is
`{"operation", "source", "registers": [[address, word, ...]], "operands": [{"agent", "tensor",
"memory", "ranges": [[start, stop], [start, stop, step, count]], "exact", "unmoved", "tags"}]}`;
`"operators"` is a list of what `OperatorNote` has. Registers behind one another are listed
together; a range with a step is there so many times. What is left out is empty; numbers may be
hexadecimal text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any

from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.notes import (
    Notes,
    Operand,
    OperatorNote,
    Ranges,
    SliceRun,
    Symbol,
    TaskNote,
)

from ..status import StatusError

_MEMORIES = ("LRAM", "XRAM", "ITCM", "DTCM")
_NUMBERS = ("cycles", "lram_peak")
"""Fields of Notes."""
_END = 1 << 32
_MOST_PIECES = 1 << 22
_STEPPED = 4
"""Numbers of a range that is there several times."""


def dumps(notes: Notes) -> bytes:
    """Notes as JSON; `loads` gives them back."""
    found = {
        "symbols": [_symbol_json(symbol) for symbol in notes.symbols],
        "padding": [list(gap) for gap in notes.padding],
        "slice_programs": {
            f"{address:#x}": [_task_json(task) for task in tasks]
            for address, tasks in notes.slice_programs.items()
        },
        "slice_runs": [
            [run.unit, run.address, [_task_json(task) for task in run.tasks]]
            for run in notes.slice_runs
        ],
        "transfers": [_task_json(task) for task in notes.transfers],
        "places": [_symbol_json(place) for place in notes.places],
        **({"operators": [asdict(each) for each in notes.operators]} if notes.operators else {}),
        "hardware": notes.hardware,
        **{key: number for key in _NUMBERS if (number := getattr(notes, key))},
    }
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()


def loads(data: bytes | memoryview, name: str) -> Notes:
    """Notes from JSON; `name` is what messages call it. Raises StatusError."""
    try:
        value = json.loads(bytes(data), object_hook=_Pieces().count)
        return _notes(_object(value, "the whole"))
    except (ValueError, RecursionError) as error:
        raise StatusError("INVALID_ARGUMENT", f"{name}: its notes are damaged: {error}") from error


class _Pieces:
    """Counts the ranges of a file, so that a few bytes do not become a lot of memory."""

    def __init__(self) -> None:
        self._left = _MOST_PIECES

    def count(self, value: dict[str, Any]) -> dict[str, Any]:
        """Takes an object as it is. Raises ValueError when there are too many ranges."""
        for key in ("ranges", "unmoved"):
            for piece in _list(value, key):
                many = _number(piece[3]) if isinstance(piece, list) and piece[3:] else 1
                self._left -= max(many, 1)
        if self._left < 0:
            raise ValueError(f"more than {_MOST_PIECES:,} ranges")
        return value


def _symbol_json(symbol: Symbol) -> list[Any]:
    return [symbol.memory, symbol.start, symbol.stop, symbol.name]


def _task_json(task: TaskNote) -> dict[str, Any]:
    operands = [
        {
            "agent": operand.agent,
            "tensor": operand.tensor,
            "memory": operand.memory,
            "ranges": _ranges_json(operand.ranges),
            **({} if operand.exact else {"exact": False}),
            **({"tags": list(operand.tags)} if operand.tags else {}),
            **({"unmoved": _ranges_json(operand.unmoved)} if operand.unmoved else {}),
        }
        for operand in task.operands
    ]
    found: dict[str, Any] = {"operation": task.operation, "source": task.source}
    if task.registers:
        found["registers"] = _registers_json(task.registers)
    return {**found, "operands": operands}


def _ranges_json(ranges: Ranges) -> list[list[int]]:
    """Ranges of one size and distance as one."""
    found: list[list[int]] = []
    for start, stop in ranges:
        last = found[-1] if found else [0, 0]
        if stop - start == last[1] - last[0]:
            step, count = last[2:] or [start - last[0], 1]
            if start == last[0] + step * count:
                found[-1] = [last[0], last[1], step, count + 1]
                continue
        found.append([start, stop])
    return found


def _registers_json(registers: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Words of registers behind one another, behind the address of the first."""
    found: list[list[int]] = []
    for address, word in registers:
        if found and address == found[-1][0] + WORD_BYTES * (len(found[-1]) - 1):
            found[-1].append(word)
        else:
            found.append([address, word])
    return found


def _notes(value: dict[str, Any]) -> Notes:
    programs = _object(value.get("slice_programs", {}), "slice_programs")
    return Notes(
        symbols=tuple(_symbol(item) for item in _list(value, "symbols")),
        padding=tuple(_gap(item) for item in _list(value, "padding")),
        slice_programs=MappingProxyType(
            {
                _number(address): tuple(_task(task) for task in _items(tasks, "a slice program"))
                for address, tasks in programs.items()
            }
        ),
        slice_runs=tuple(_run(item) for item in _list(value, "slice_runs")),
        transfers=tuple(_task(item) for item in _list(value, "transfers")),
        places=tuple(_symbol(item) for item in _list(value, "places")),
        operators=tuple(_operator(item) for item in _list(value, "operators")),
        hardware=_text(value.get("hardware", "")),
        **{key: _number(value.get(key, 0)) for key in _NUMBERS},
    )


def _operator(value: object) -> OperatorNote:
    given = _object(value, "an operator")
    made: dict[str, Any] = {}
    for field in fields(OperatorNote):
        text = field.name in ("name", "way")
        made[field.name] = (
            _text(given.get(field.name, "")) if text else _number(given.get(field.name, 0))
        )
    return OperatorNote(**made)


def _symbol(value: object) -> Symbol:
    memory, start, stop, name = _items(value, "a symbol", 4)
    first, last = _piece([start, stop])
    return Symbol(name=_text(name), memory=_memory(memory), start=first, stop=last)


def _gap(value: object) -> tuple[str, int, int]:
    memory, start, stop = _items(value, "a gap", 3)
    return (_memory(memory), *_piece([start, stop]))


def _task(value: object) -> TaskNote:
    task = _object(value, "a task")
    return TaskNote(
        operation=_text(task.get("operation", "")),
        source=_text(task.get("source", "")),
        operands=tuple(_operand(item) for item in _list(task, "operands")),
        registers=tuple(r for item in _list(task, "registers") for r in _registers(item)),
    )


def _run(value: object) -> SliceRun:
    unit, address, tasks = _items(value, "a run of a slice", 3)
    return SliceRun(
        unit=_text(unit),
        address=_number(address),
        tasks=tuple(_task(task) for task in _items(tasks, "a run's tasks")),
    )


def _operand(value: object) -> Operand:
    operand = _object(value, "an operand")
    return Operand(
        agent=_text(operand.get("agent", "")),
        tensor=_text(operand.get("tensor", "")),
        memory=_memory(operand.get("memory", "LRAM")),
        ranges=_pieces(_list(operand, "ranges")),
        exact=bool(operand.get("exact", True)),
        tags=tuple(_number(item) for item in _list(operand, "tags")),
        unmoved=_pieces(_list(operand, "unmoved")),
    )


def _registers(value: object) -> list[tuple[int, int]]:
    numbers = [_number(item) for item in _items(value, "registers")]
    return [(numbers[0] + WORD_BYTES * place, word) for place, word in enumerate(numbers[1:])]


def _pieces(values: list[Any]) -> Ranges:
    """Ranges in order, those with a step one by one."""
    found = []
    for value in values:
        if len(_items(value, "a range")) != _STEPPED:
            found.append(_piece(value))
            continue
        start, stop, step, count = (_number(item) for item in value)
        if count < 1:
            raise ValueError(f"a range that is there {count} times")
        steps = [step * k for k in range(count)]
        _piece([start + steps[-1], stop + steps[-1]])
        _piece([start, stop])
        found += [(start + more, stop + more) for more in steps]
    return tuple(sorted(found))


def _piece(value: object) -> tuple[int, int]:
    start, stop = (_number(end) for end in _items(value, "a range", 2))
    if not 0 <= start < stop <= _END:
        raise ValueError(f"a range from {start} to {stop}")
    return start, stop


def _memory(value: object) -> str:
    if value not in _MEMORIES:
        raise ValueError(f"memory {value!r}; there are {', '.join(_MEMORIES)}")
    return str(value)


def _number(value: object) -> int:
    if isinstance(value, str):
        return int(value, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{value!r} is no text that can be printed")
    return value


def _list(value: dict[str, Any], key: str) -> list[Any]:
    return _items(value.get(key, []), key)


def _items(value: object, what: str, count: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        many = "" if count is None else f" of {count}"
        raise ValueError(f"{what} is no list{many}")
    return value


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    return value

"""Inside of `sim` imports point down the rooms only: what compiles C knows no engine."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SIM = Path(__file__).parents[2] / "sim"
ROOMS = (
    *("native", "check"),
    *(f"simt/{room}" for room in ("ir", "analysis", "read", "watch", "emit", "run", "oracle")),
)
"""Lowest first."""


def room_of(parts: tuple[str, ...]) -> str | None:
    """The room that a module's place is in; None for what lies beside them."""
    for room in ROOMS:
        if parts[: room.count("/") + 1] == tuple(room.split("/")):
            return room
    return None


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from executed(node)


def rooms_imported(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and rooms of a file's relative imports."""
    folder = path.parent.relative_to(SIM).parts
    for node in executed(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = folder[: len(folder) - node.level + 1]
        targets = [start + tuple(node.module.split("."))] if node.module else []
        targets = targets or [(*start, alias.name) for alias in node.names]
        for target in targets:
            room = room_of(target)
            if room is not None:
                yield node.lineno, room


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down_the_rooms(room: str) -> None:
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for path in sorted((SIM / room).rglob("*.py")):
        for line, other in rooms_imported(path):
            assert other in allowed, f"{path.relative_to(SIM)}:{line}: {room} may not know {other}"

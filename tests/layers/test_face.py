"""Rooms of the public face import each other in one direction only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FACE = ROOT / "assay"
ABOVE = {
    "launches": ("checks", "prediction", "proofs", "reports", "sweeps", "cli"),
    "reports": ("checks", "prediction", "proofs", "sweeps", "cli"),
    "checks": ("prediction", "proofs", "sweeps", "cli"),
    "edits": ("checks", "launches", "prediction", "proofs", "repairs", "reports", "cli"),
    "proofs": ("edits", "prediction", "repairs", "sweeps", "cli"),
    "reduction": ("prediction", "proofs", "repairs", "sweeps", "cli"),
    "repairs": ("reduction", "sweeps", "cli"),
    "prediction": ("checks", "reports", "sweeps", "cli"),
    "sweeps": ("checks", "prediction", "reports", "cli"),
    "foundry": ("sweeps", "cli"),
}
"""What each room must know nothing of."""


def neighbours(path: Path) -> Iterator[tuple[int, str]]:
    """The rooms of the face that a file imports from, with the lines."""
    depth = len(path.relative_to(FACE).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((node.lineno, name.partition(".")[0]) for name in names)


@pytest.mark.parametrize("room", ABOVE)
def test_a_room_knows_nothing_of_those_above_it(room: str) -> None:
    for path in sorted((FACE / room).rglob("*.py")):
        for line, name in neighbours(path):
            where = f"{path.relative_to(FACE.parent)}:{line}"
            assert name not in ABOVE[room], f"{where}: {room} imports from {name}"

"""Rooms of the public face import each other in one direction only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FACE = ROOT / "assay"
ABOVE = {
    "launches": ("checks", "prediction", "reports", "cli"),
    "reports": ("checks", "prediction", "cli"),
    "checks": ("prediction", "cli"),
    "prediction": ("checks", "reports", "cli"),
}
"""What each room must know nothing of."""
USERS = (
    "hal/metal/timed",
    "assay/launches",
    "assay/checks",
    "assay/prediction",
    "assay/mlx",
    "assay/tinygrad",
    "assay/torch",
)
"""Rooms that use objects of the emulated Metal."""


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


def reaches(path: Path) -> Iterator[str]:
    """Attributes with a leading underscore that are asked of something else than oneself."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not is_own and not node.attr.startswith("__"):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("room", USERS)
def test_what_objects_keep_to_themselves_is_not_used_by_other_rooms(room: str) -> None:
    assert [each for path in sorted((ROOT / room).rglob("*.py")) for each in reaches(path)] == []

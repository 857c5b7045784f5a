"""The formatter lays out code by itself, and commands leave their work to those who know it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("assay", "benchmarks", "compiler", "docs", "hal", "hw", "sim", "tests", "traces")
OFF = "# " + "fmt:"
ODD = re.compile(
    r"(?:\b|_)(?:deeds?|wears?|dearer|dearest|shall|thrice|whence|hence|thereof|look(?:s|ing)? on)"
    r"(?:\b|_)",
    re.IGNORECASE,
)
"""Words that are not plain English of engineers."""
LONGEST = 60
"""Lines of a function of the command line, its options and help included."""


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def tricks(path: Path) -> Iterator[int]:
    """Lines with literals that are unpacked into others, to be laid out otherwise than usual."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List):
            yield node.lineno
        elif isinstance(node, ast.Dict):
            both = zip(node.keys, node.values, strict=True)
            yield from (v.lineno for k, v in both if k is None and isinstance(v, ast.Dict))


@pytest.mark.parametrize("room", ROOMS)
def test_the_formatter_is_neither_switched_off_nor_tricked(room: str) -> None:
    for path in sorted((ROOT / room).rglob("*.py")):
        assert OFF not in path.read_text(), f"{path.relative_to(ROOT)} switches it off"
        assert not list(tricks(path)), f"{path.relative_to(ROOT)} tricks it at {list(tricks(path))}"


@pytest.mark.parametrize("room", ROOMS)
def test_names_and_texts_are_in_plain_english(room: str) -> None:
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix not in {".py", ".c", ".h", ".md"} or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = ODD.search(line)
            assert not found, f"{path.relative_to(ROOT)}:{number}: say it plainly: {line.strip()}"


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "assay" / "cli").rglob("*.py")),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_functions_of_the_command_line_are_short(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            assert lines <= LONGEST, f"{node.name} has {lines} lines"

"""The tables of the design notes' sections name tests and figures that exist."""

import ast
import re

import pytest

from .commands import ROOT

PAGE = ROOT / "docs" / "how-it-works" / "design-notes.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
FIGURE = re.compile(r"\]\(([\w-]+\.md)#([\w-]+)\)")
ROWS = [
    line.strip("| ").split(" | ")
    for line in PAGE.read_text().splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| section"))
]


def slug(heading: str) -> str:
    """The anchor that the site gives a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


@pytest.mark.parametrize("file", sorted({file for file, _ in TEST.findall(PAGE.read_text())}))
def test_every_test_that_is_named_exists(file: str) -> None:
    module = ast.parse((ROOT / "tests" / file).read_text())
    there = {each.name for each in module.body if isinstance(each, ast.FunctionDef)}
    assert {name for named, name in TEST.findall(PAGE.read_text()) if named == file} <= there


def test_every_figure_that_is_named_is_a_heading() -> None:
    for name, anchor in FIGURE.findall(PAGE.read_text()):
        text = (PAGE.parent / name).read_text()
        assert anchor in {slug(each) for each in re.findall(r"^#+ (.+)$", text, re.M)}, anchor


def test_every_section_is_shown_by_something() -> None:
    assert len(ROWS) > 25
    for section, shown in ROWS:
        assert TEST.search(shown) or FIGURE.search(shown), section

"""The pages of the site are all in its navigation and linked to what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
CONFLICT = re.compile(r"^(?:<{7}|={7}$|>{7})", re.M)
LINK = re.compile(r"\]\((?!https?:|#|mailto:|\.\.\.)([^)#\s]+)")


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in DOCS.rglob("*.md"):
        assert str(page.relative_to(DOCS)) in navigation


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_page_holds_what_a_merge_left_behind(page: Path) -> None:
    assert not CONFLICT.search(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_nothing_interrupts_a_table(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for block in text.split("\n\n"):
        rows = [line.startswith("|") for line in block.strip().split("\n")]
        assert all(rows) or not any(rows), f"a table with other lines in it:\n{block}"
        if all(rows):
            assert re.match(r"\|[^\n]*\n\|[-:| ]+\|", block.strip()), f"no header:\n{block}"


def test_the_page_about_checks_names_every_check_and_kind() -> None:
    from assay.checks import CHECKS, KINDS

    text = (DOCS / "guides" / "checks.md").read_text()
    for name in (*CHECKS, *KINDS):
        assert f"`{name}`" in text, f"{name} is missing"

"""The pages whose commands take long, which CI leaves to the campaign `documents`."""

from pathlib import Path

import pytest

from .commands import LONG, PAGES
from .run_page import run_page


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem in LONG], ids=lambda page: page.stem
)
def test_every_command_of_a_long_page_does_what_the_page_shows(
    page: Path, tools: Path, tmp_path: Path
) -> None:
    run_page(page, tools, tmp_path)


def test_every_long_page_is_there() -> None:
    assert {page.stem for page in PAGES} >= LONG

"""One Chromium for the tests of a file; pages of traces written where a test wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from assay.traces.events.trace import Trace
from assay.traces.viewer.html_write import page
from tests.support import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Open: TypeAlias = Callable[..., AbstractContextManager[chromium.Tab]]


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    """A browser; tests that need one are skipped where there is none, with the reason.

    It ends with the file: while it is there its loop of events runs, and no other one can.
    """
    if reason := chromium.missing():
        pytest.skip(reason)
    with chromium.browser() as browser:
        yield browser


@pytest.fixture
def show(running: Browser, tmp_path: Path) -> Open:
    """Opens the page of a trace, or a page given as text: `with show(trace) as tab`."""

    def opened(content: Trace | str, **options: object) -> AbstractContextManager[chromium.Tab]:
        path = tmp_path / f"timeline {len(list(tmp_path.iterdir()))}.html"
        text = content if isinstance(content, str) else page(content)
        path.write_text(text, encoding="utf-8")
        return partial(chromium.tab, running, path)(**options)

    return opened

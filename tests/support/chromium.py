"""Pages in a headless Chromium that may load files and nothing else."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_LOCAL = ("file:", "data:", "blob:", "about:")


def executable() -> str | None:
    """Where Chromium is: $ASSAY_CHROMIUM, or the first of its names on the path."""
    given = os.environ.get("ASSAY_CHROMIUM")
    return given or next(filter(None, map(shutil.which, _NAMES)), None)


def missing() -> str | None:
    """Why no browser can be driven here; None if one can."""
    if executable() is None:
        return "no Chromium is installed (apt-get install chromium, or set ASSAY_CHROMIUM)"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed (pip install playwright; no download is needed)"
    return None


@contextmanager
def browser() -> Iterator[Browser]:
    """A fresh Chromium; its profile is gone afterwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        yield running
        running.close()


@dataclass(slots=True, kw_only=True)
class Tab:
    """One page, and what went wrong in it."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def call(self, script: str, argument: object = None) -> Any:
        """The value of a JavaScript expression or function in the page."""
        return self.page.evaluate(script, argument)

    def status(self) -> str:
        """What the status line says."""
        return self.page.text_content("#status") or ""

    def until(self, script: str, seconds: float = 20) -> None:
        """Wait until a JavaScript expression is true; fails with it if it never is."""
        last = time.monotonic() + seconds
        while not self.call(script):
            assert time.monotonic() < last, f"never true: {script}"
            self.page.wait_for_timeout(50)

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )


@contextmanager
def tab(
    running: Browser,
    path: Path,
    *,
    view: str = "",
    dark: bool = False,
    size: tuple[int, int] = (1280, 800),
) -> Iterator[Tab]:
    """Open a page of a timeline and wait until it has shown its trace, or that it cannot.

    Requests to anything but files are aborted; they and errors of scripts are in `errors`, which
    has to be empty at the end.
    """
    context = running.new_context(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=1,
        color_scheme="dark" if dark else "light",
    )
    opened = Tab(page=context.new_page())
    page = opened.page

    def route(route: Route) -> None:
        if route.request.url.startswith(_LOCAL):
            route.continue_()
        else:
            opened.errors.append(f"request to {route.request.url}")
            route.abort()

    page.route("**/*", route)
    page.on("pageerror", lambda error: opened.errors.append(str(error)))
    page.on(
        "console",
        lambda message: opened.errors.append(message.text) if message.type == "error" else None,
    )
    page.goto(path.resolve().as_uri() + view)
    page.wait_for_selector("html[data-timeline]", state="attached", timeout=60_000)
    yield opened
    context.close()
    assert opened.errors == []

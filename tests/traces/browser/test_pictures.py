"""The picture of a known trace is as it was when somebody last looked at it.

What is compared is the list of what is drawn, not pixels: fonts differ from machine to machine.
After a change of looks that is meant: `python -m tests.browser.test_pictures`, and look.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from assay.traces.viewer.html_write import page
from tests.support import chromium, timelines

from .conftest import Open

GOLDEN = Path(__file__).with_name("pictures.json")
TRACES = {"gemm": timelines.gemm, "npu": timelines.npu}
VIEWS = {  # one after the other in one page
    "all": "",
    "searched": "timeline.search('compute');",
    "a twentieth": "timeline.search(''); timeline.setView(0.4 * span, 0.45 * span);",
    "closed": "timeline.fit(); timeline.closeAll(true);",
}
# The size is set by hand: the room that the legend leaves depends on fonts.
DRAW = """(change) => {
  const { span } = timeline.model;
  %s
  timeline.size = { width: 1000, height: 700, ratio: 1, labels: 200 };
  timeline.state.scroll = 0;
  timeline.plan();
  const { scrolled, links } = timeline.drawn();
  const { rects, runs, areas, marks } = scrolled;
  return { rects, runs, areas, marks, links };
}"""


def summary(drawn: dict[str, Any]) -> dict[str, object]:
    """How much of what is drawn, and a hash of all of it, to a tenth of a pixel."""
    rounded = json.loads(
        json.dumps(drawn), parse_float=lambda number: round(float(number), 1) + 0.0
    )
    text = json.dumps(rounded, sort_keys=True)
    counts = {key: len(value) for key, value in drawn.items()}
    return {**counts, "sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("name", TRACES)
def test_the_picture_is_as_it_was(name: str, show: Open) -> None:
    golden = json.loads(GOLDEN.read_text())[name]
    with show(TRACES[name]()) as tab:
        for view, script in VIEWS.items():
            assert summary(tab.call(DRAW % script)) == golden[view], view


def test_pictures_of_different_views_differ() -> None:
    golden = json.loads(GOLDEN.read_text())
    hashes = [view["sha256"] for views in golden.values() for view in views.values()]
    assert len(set(hashes)) == len(hashes) == len(TRACES) * len(VIEWS)


def renew() -> None:
    """Write the golden file from what is drawn now."""
    found: dict[str, dict[str, object]] = {}
    with chromium.browser() as browser, tempfile.TemporaryDirectory() as folder:
        for name, make in TRACES.items():
            path = Path(folder) / f"{name}.html"
            path.write_text(page(make()), encoding="utf-8")
            with chromium.tab(browser, path) as tab:
                found[name] = {
                    view: summary(tab.call(DRAW % script)) for view, script in VIEWS.items()
                }
    GOLDEN.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    renew()

"""The page of a sweep, in a browser without a network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay.sweeps.page import page
from tests.support import chromium

from .test_compare import ROWS, row

SHOWN = {
    "caches": "warm",
    "least_seconds": 0.5,
    "resident_threadgroups": 2,
    "threadgroup_memory": 1024,
    "causes": {"issue": 0.25, "dram": 0.75},
}
FULL = [each | SHOWN if each["status"] == "ok" else each for each in ROWS]


def test_it_holds_every_row_and_no_text_of_it_ends_the_script() -> None:
    bad = row("own</script><script>{{script}}", "m1", None, reason="<b>no</b>")
    text = page("a <b>", [*FULL, bad])
    assert "<title>a &lt;b&gt; - assay sweep</title>" in text
    found = re.search(r'id="data">([^<]*)</script>', text)
    assert found is not None
    data = json.loads(found[1])
    assert len(data["rows"]) == 7
    assert data["rows"][6]["kernel"] == bad["variant"]
    assert data["best"]["fp4_128 m2 1x64x128"] == "b m2"
    assert not re.search(r"""(?:src|href)=|url\(|@import""", text)


@pytest.mark.skipif(chromium.missing() is not None, reason=str(chromium.missing()))
def test_in_a_browser_it_shows_best_front_and_costs_and_its_table_sorts(tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    path.write_text(page("small", FULL))
    errors: list[str] = []
    with chromium.browser() as browser:
        shown = browser.new_context(offline=True).new_page()
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.goto(path.as_uri())
        cells = shown.locator("#best tr:nth-child(2) td").all_inner_texts()
        assert [cell.split("\n")[0] for cell in cells] == ["fp4_128 1x64x128", "a", "b"]
        assert shown.locator("#plot .point").count() == 3
        assert shown.locator("#plot .front .point").count() == 1
        assert shown.locator("#fixed tr:nth-child(2) td").first.inner_text() == "b"
        shown.locator("#rows th", has_text="time").first.click()
        times = shown.locator("#rows td:nth-child(7)").all_inner_texts()
        assert times[:3] == ["1.000 s", "2.000 s", "2.000 s"] and times[-1] == "it cannot"
        shown.locator("#filter").fill("m2 failed")
        assert shown.locator("#count").inner_text() == "1 of 6"
    assert not errors

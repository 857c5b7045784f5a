"""The pictures of the documentation show what the commands print."""

import html
import re
import runpy
from pathlib import Path

from typer.testing import CliRunner

from assay.cli.app import app

from .commands import ROOT

IMAGES = ROOT / "docs" / "images"


def test_the_picture_of_a_check_shows_what_is_printed(tmp_path: Path) -> None:
    source = tmp_path / "scan.metal"
    source.write_text(runpy.run_path(str(IMAGES / "record.py"))["SCAN"])

    printed = CliRunner().invoke(app, ["check", str(source)]).stdout
    texts = re.findall(r"<text [^>]*>(.*?)</text>", (IMAGES / "check.svg").read_text())
    shown = {_plain(html.unescape(text)) for text in texts}

    assert "[race-read-write]" in printed
    for line in printed.replace(f"{tmp_path}/", "").splitlines():
        assert _plain(line) in shown | {""}, line


def _plain(line: str) -> str:
    """A line without its layout, and without how often a finding was met."""
    return re.sub(r"\d+ times", "often", " ".join(line.split()))

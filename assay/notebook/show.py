"""What cells show: reports, times, timelines."""

from __future__ import annotations

import argparse
import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..prediction import TimeResult
    from ..reports.report import Report

_HEIGHT = 480
"""Pixels of a timeline in a cell."""


def show_report(report: Report) -> None:
    """A report below the cell."""
    _display(report)


def show_time(cell: str, kernel: str, values: Sequence[Any], chosen: argparse.Namespace) -> None:
    """A kernel's predicted time below the cell, as text and as picture. Raises TimeInputError."""
    from ..prediction import time

    result = time(
        cell,
        kernel,
        *values,
        chip=chosen.time,
        threads=chosen.threads,
        threadgroup=chosen.threadgroup,
        timeline=chosen.timeline,
    )
    print(result)
    display: Any = import_module("IPython.display")
    _display(display.HTML(result.plot().svg))
    if chosen.timeline:
        _display(Page(result))


def _display(shown: object) -> None:
    """Below the cell; notebooks choose the form."""
    display: Any = import_module("IPython.display")
    display.display(shown)


@dataclass(frozen=True)
class Page:
    """A timeline's page in a frame of its own."""

    result: TimeResult

    def __repr__(self) -> str:
        return f"<timeline of {self.result.program}>"

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {_HEIGHT}px; border: 1px solid #d0d7de"
        return f'<iframe srcdoc="{html.escape(_page(self.result))}" style="{style}"></iframe>'


def _page(result: TimeResult) -> str:
    with TemporaryDirectory(prefix="assay-timeline-") as folder:
        path = Path(folder) / "timeline.html"
        result.save_trace(path)
        return path.read_text(encoding="utf-8")

"""Reports for notebooks: the text, with the severity of each part in colour."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .text import report_text

if TYPE_CHECKING:
    from .report import Report

_COLOURS = {": error: ": "#d1242f", "error: ": "#d1242f", ": warning: ": "#bf8700"}
_FINE, _REST = "#1a7f37", "#818b98"
_STYLE = "margin: 0 0 .8em 0; padding: .2em .8em; border-left: 4px solid {}; white-space: pre-wrap"


def report_html(report: Report) -> str:
    """All that `str(report)` says, as HTML of its own: nothing is loaded."""
    *parts, summary = report_text(report).split("\n\n")
    passed = not report.findings and not report.unchecked
    shown = [(part, _colour(part)) for part in parts]
    shown.append((summary, _FINE if passed else _REST))
    return "".join(
        f'<pre style="{_STYLE.format(colour)}">{_first_line_bold(part)}</pre>'
        for part, colour in shown
    )


def _colour(part: str) -> str:
    head = part.partition("\n")[0]
    found = (c for mark, c in _COLOURS.items() if mark in head or head.startswith(mark))
    return next(found, _REST)


def _first_line_bold(part: str) -> str:
    head, newline, rest = part.partition("\n")
    return f"<b>{escape(head)}</b>{newline}{escape(rest)}"

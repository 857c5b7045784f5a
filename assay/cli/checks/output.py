"""Where reports of checks go, and in which format."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..terminal import stdout

if TYPE_CHECKING:
    from ...checks import Report


def _text(report: "Report") -> str:
    return f"{report}\n"


def _json(report: "Report") -> str:
    from ...checks import report_json

    return json.dumps(report_json(report), indent=2, ensure_ascii=False) + "\n"


def _sarif(report: "Report") -> str:
    from ...checks import report_sarif

    return json.dumps(report_sarif(report), indent=2) + "\n"


def _junit(report: "Report") -> str:
    from ...checks import report_junit

    return report_junit(report)


FORMATS: dict[str, Callable[["Report"], str]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
}
"""Writers by the name that `--format` has for them."""


_STYLES = (
    ("bold", r"(?m)^\S.*?: (?=(?:error|warning|note): )"),
    ("bold red", r"(?m)(?:^|(?<=: ))error:"),
    ("bold yellow", r"(?m)(?:^|(?<=: ))warning:"),
    ("bold cyan", r"(?m)(?<=: )note:"),
    ("bold green", r"(?m)^ +\| +\^$"),
    ("green", r"(?m)^  hint: .*$"),
    ("dim", r"(?m)^  assumed: .*$"),
)
"""What a terminal shows in which style, in the manner of compilers."""


def write_report(report: "Report", format: str, output: Path | None) -> None:
    """Print the report, or write it to a file and print it as text for those who read the log."""
    written = FORMATS[format](report)
    if output is not None:
        output.write_text(written, encoding="utf-8")
    elif format != "text":
        typer.echo(written, nl=False)
        return
    _print(_text(report))


def _print(text: str) -> None:
    """The text as it is, with colours if this is a terminal."""
    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    from rich.text import Text

    styled = Text(text)
    for style, pattern in _STYLES:
        styled.highlight_regex(pattern, style)
    stdout().print(styled, soft_wrap=True, end="")

"""Where reports of checks go, and in which format."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from assay.checks import Report


def _text(report: "Report") -> str:
    return f"{report}\n"


def _json(report: "Report") -> str:
    from assay.checks import report_json

    return json.dumps(report_json(report), indent=2, ensure_ascii=False) + "\n"


def _sarif(report: "Report") -> str:
    from assay.checks import report_sarif

    return json.dumps(report_sarif(report), indent=2) + "\n"


def _junit(report: "Report") -> str:
    from assay.checks import report_junit

    return report_junit(report)


FORMATS: dict[str, Callable[["Report"], str]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
}
"""Writers by the name that `--format` has for them."""


def write_report(report: "Report", format: str, output: Path | None) -> None:
    """Print the report, or write it to a file and print it as text for those who read the log."""
    written = FORMATS[format](report)
    if output is None:
        typer.echo(written, nl=False)
        return
    output.write_text(written, encoding="utf-8")
    typer.echo(_text(report), nl=False)

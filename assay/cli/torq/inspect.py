"""`assay inspect` of a Torq executable: container, actions, task graph, memory, words."""

from collections.abc import Callable
from pathlib import Path

import typer

from ..failures import USAGE, CommandError

_LISTED = 40


def is_torq(path: Path) -> bool:
    """Whether a file is a Torq executable, or an archive with one in it."""
    from ...npu.files import is_executable

    return is_executable(path)


def inspect_torq(
    path: Path, hardware: str | None, *, words: bool, dot: bool, every: bool, json: bool
) -> None:
    """Print what is in a Torq executable and what it does as far as the file tells."""
    from assay.hal.torq.archive import read_container
    from assay.hal.torq.check import check
    from assay.hal.torq.follow import follow
    from assay.hw.torq.facts import hardware as machines

    from ...reports.torq_report import TorqReport
    from ..terminal import print_json

    if not path.is_file():
        raise CommandError(f"{path}: there is no such file", code=USAGE)
    try:
        npu = machines.hardware(hardware or machines.DEFAULT)
    except machines.HardwareError as error:
        raise CommandError(str(error), code=USAGE) from error
    reports = []
    for name, executable in read_container(path.read_bytes(), str(path)).executables:
        check(executable, npu, f"{path}: {name}")
        followed = follow(executable, npu)
        reports.append(TorqReport(member=name, executable=executable, followed=followed))
    if json:
        print_json({"executables": [report.json(words=words) for report in reports]})
        return
    for report in reports:
        if dot:
            typer.echo(_printable(report.dot()))
            continue
        typer.echo(_printable("\n".join(report.summary())))
        sections: list[tuple[str, Callable[[], list[str]]]] = [
            ("actions", report.actions),
            ("jobs", report.jobs),
            ("memory over time", report.memory),
        ]
        for title, lines in sections:
            _section(title, lines(), every=every)
        if words:
            _section("words", report.words(), every=True)


def _section(title: str, lines: list[str], *, every: bool) -> None:
    if not lines:
        return
    shown = lines if every else lines[:_LISTED]
    typer.echo(f"\n{title}")
    typer.echo(_printable("\n".join(shown)))
    if len(shown) < len(lines):
        typer.echo(f"... and {len(lines) - len(shown)} more; --all shows them")


def _printable(text: str) -> str:
    """Text without what a file could steer a terminal with."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)

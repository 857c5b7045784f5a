"""`assay inspect` of a Torq executable: container, actions, task graph, memory, words."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..failures import USAGE, CommandError
from ..options.files import require_file

if TYPE_CHECKING:
    from assay.hal.torq.format import Executable
    from assay.hw.torq.facts.hardware import Hardware

_LISTED = 40
_BYTES_LISTED = 32


def is_torq(path: Path) -> bool:
    """Whether a file is a Torq executable, or an archive with one in it."""
    from ...npu.files import is_executable

    return is_executable(path)


def inspect_torq(
    path: Path, hardware: str | None, *, words: bool, dot: bool, every: bool, json: bool
) -> None:
    """Print what is in a Torq executable and what it does as far as the file tells."""
    from assay.hal.torq.archive import host_archive, read_container
    from assay.hal.torq.check import check
    from assay.hal.torq.follow import follow

    from ...reports.torq_report import TorqReport
    from ..terminal import print_json

    require_file(path)
    chosen = _hardware(hardware) if hardware else None
    reports = []
    data = path.read_bytes()
    for name, executable in read_container(data, str(path)).executables:
        npu = chosen or _hardware(executable.notes.hardware)
        check(executable, npu, f"{path}: {name}")
        followed = follow(executable, npu)
        reports.append(TorqReport(member=name, executable=executable, followed=followed, npu=npu))
    archive = host_archive(memoryview(data), str(path))
    functions: list[str] = []
    problem = None
    if archive is not None:
        functions, problem = _host_program(archive, path)
    if json:
        print_json(
            {
                "functions": functions,
                "host_program_problem": problem,
                "executables": [report.json(words=words) for report in reports],
            }
        )
        return
    if not dot:
        for line in (*functions, *([f"cannot be run here: {problem}"] if problem else [])):
            typer.echo(_printable(f"host program: {line}"))
    for report in reports:
        if dot:
            typer.echo(_printable(report.dot()))
            continue
        typer.echo(_printable("\n".join(report.summary())))
        sections: list[tuple[str, Callable[[], list[str]]]] = [
            ("the run as a whole", report.run),
            ("actions", report.actions),
            ("operators of the model", report.operators),
            ("jobs", report.jobs),
            ("memory over time", report.memory),
        ]
        for title, lines in sections:
            _section(title, lines(), every=every)
        if words:
            _section("listing", [_listing(report.executable)], every=True)
            _section("words", report.words(), every=True)


def _listing(executable: "Executable") -> str:
    """The programs as TorqHW, without what memory holds besides."""
    from assay.compiler.torq.hw.dialect import hw_text
    from assay.hal.torq.listing.module import executable_op

    return hw_text(executable_op(executable), most=_BYTES_LISTED)


def _hardware(text: str) -> "Hardware":
    """The NPU that text says, or the usual one for none. Raises CommandError."""
    from assay.hw.torq.facts import hardware as machines

    try:
        return machines.hardware(text or machines.DEFAULT)
    except machines.HardwareError as error:
        raise CommandError(str(error), code=USAGE) from error


def _host_program(archive: memoryview, path: Path) -> tuple[list[str], str | None]:
    """The functions of a host program, or why they cannot be known."""
    from assay.hal.status import StatusError
    from assay.hal.vm.archive import read_module
    from assay.hal.vm.asserted import exported

    from ...signatures import signature_of

    try:
        definition = read_module(archive, str(path))
    except StatusError as error:
        return [], error.message
    found = [exported(definition, name) for name in definition.exports if name[:2] != "__"]
    return [info.declaration or str(signature_of(info)) for info in found], None


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

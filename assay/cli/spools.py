"""Where the timeline of a run stands while it runs: all that is left if the run is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, takewhile
from pathlib import Path

from .terminal import note


@contextmanager
def spool_beside(trace: Path) -> Iterator[Path]:
    """A new file beside `trace`, gone at the end; what killed runs left is reported and stays."""
    for left in spools_of(trace):
        note(f"{left} shows a run that was killed, as far as it came, or that still runs")
    path = _free(trace)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def spools_of(trace: Path) -> list[Path]:
    """What runs that were to write `trace` left, or write now."""
    return list(takewhile(Path.exists, _names(trace)))


def _free(trace: Path) -> Path:
    """The first name that nobody has; taken."""
    for path in _names(trace):
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError("names do not end")


def _names(trace: Path) -> Iterator[Path]:
    for number in count(1):
        ordinal = "" if number == 1 else f"-{number}"
        yield trace.with_name(f"{trace.name}.partial{ordinal}.assay-trace")

"""What the commands about traces share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError

if TYPE_CHECKING:
    from assay.traces import Trace
    from assay.traces.events.clock import Clock

TraceFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A trace: .html, .pftrace, .assay-trace, Chrome .json, or .xml of xctrace, also "
        "packed as .gz; a .gputrace; or an .assay-recording.",
        show_default=False,
    ),
]

TraceFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="A trace: .html, .pftrace, .assay-trace, Chrome .json, or .xml of xctrace, also "
        "packed as .gz; a .gputrace; or an .assay-recording. Several are laid side by side, each "
        "from its begin.",
        show_default=False,
    ),
]

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}


def open_trace(path: Path) -> "Trace":
    """The trace in a file; what the reader had to say goes to stderr."""
    from assay.hal.recordings import SUFFIX
    from assay.traces.files import read_trace

    from ..spools import spools_of
    from ..terminal import note

    if not path.exists() and (left := spools_of(path)):
        raise CommandError(
            f"{path}: there is no such file; {left[-1]} shows a run that was to write it, as far "
            "as it came"
        )
    if path.suffix == SUFFIX:
        return _recorded(path)
    trace = read_trace(path)
    for text in trace.notes:
        note(f"{path}: {text}")
    return trace


def _recorded(path: Path) -> "Trace":
    """The dispatches of a recording, when its device ran them."""
    from assay.hal.recordings import INCOMPLETE, Recording

    from ...recordings.timeline import measured
    from ..terminal import note

    with Recording(path) as recording:
        if not recording.is_complete:
            note(f"{path}: {INCOMPLETE}")
        return measured(recording)


def open_traces(paths: list[Path]) -> "Trace":
    """The trace in a file, or those in several side by side below the names of the files."""
    if len(paths) == 1:
        return open_trace(paths[0])
    from assay.traces.record.merge import merged

    names = [path.name.removesuffix(".gz").rsplit(".", 1)[0] for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    return merged([open_trace(path) for path in paths], names)


def ticks(option: str, text: str | None, clock: "Clock") -> int | None:
    """A time on the command line: a number of ticks, or a number with a unit of time."""
    if text is None:
        return None
    number = text.strip()
    unit = next((u for u in ("ms", "us", "µs", "ns", "ps", "s") if number.endswith(u)), "")
    try:
        value = float(number.removesuffix(unit).replace(",", "").replace("_", ""))
        return round(value) if not unit else clock.ticks(value * _UNITS[unit])
    except (ValueError, OverflowError):
        raise CommandError(
            f"{option} {text}: expected a number of ticks ({clock.unit}), or one with a unit of "
            "time, such as 1.5us",
            code=USAGE,
        ) from None

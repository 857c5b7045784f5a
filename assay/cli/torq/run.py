"""`assay run` and `assay time` of a Torq executable: its host actions on an emulated NPU."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..crash_trace import kept_timeline
from ..failures import USAGE, CommandError
from ..options.files import require_file

if TYPE_CHECKING:
    from ...elements import Value
    from ...npu import NpuFunction
    from ...prediction.npu import NpuTimer, NpuTimeResult


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqOptions:
    """Which executable of which file, on which NPU; `skip_host_code` leaves out what is machine
    code for the board's own processor.

    The file may also be a model, which is compiled for the NPU first.
    """

    path: Path
    function: str | None
    hardware: str | None
    skip_host_code: bool = False
    is_model: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqRun:
    """What a run gave: the buffers that the program writes, and how long it took."""

    name: str
    results: "list[Value]"
    time: "NpuTimeResult"


def first(text: str) -> str:
    """What to say while something runs on the NPU: with what comes before, if that takes long."""
    from assay.hw.torq.datapath.run import UNIT

    long = "compiling the emulated NPU, which takes some seconds once, then "
    return text if UNIT.is_cached() else long + text


def run_torq(
    function: "NpuFunction", values: "Sequence[Value]", trace: Path | None = None
) -> TorqRun:
    """Runs an executable. Raises CommandError and StatusError."""
    from ...prediction.npu import NpuTimer

    timer = NpuTimer(keeps_accesses=trace is not None)
    results = _timed(function, values, timer, trace)
    if trace is not None:
        _save(function, timer, trace)
    return TorqRun(name=function.name, results=results, time=timer.whole(function.name))


def timed_torq(
    function: "NpuFunction", values: "Sequence[Value]", trace: Path | None = None
) -> "NpuTimeResult":
    """Runs an executable and records it; inputs are zeros if none are given.

    If the run fails, `trace` shows it up to there.
    """
    from ...prediction.npu import NpuTimer

    timer = NpuTimer()
    _timed(function, values or function.zeros(), timer, trace)
    return timer.whole(function.name)


def open_torq(options: TorqOptions, say: Callable[[str], None]) -> "NpuFunction":
    """The executable that is asked for, on an NPU; a model is compiled.

    Raises CommandError, ModelError and StatusError.
    """
    from ...npu import load_npu

    hardware = hardware_name(options)
    source: bytes | Path = options.path
    if options.is_model:
        source = _compiled(options.path, hardware, say)
    with usage_errors():
        return load_npu(
            source,
            hardware=hardware,
            name=str(options.path),
            skip_host_code=options.skip_host_code,
        ).find(options.function)


def _compiled(path: Path, hardware: str | None, say: Callable[[str], None]) -> bytes:
    """The executable of a model; what the model leaves undefined is noted."""
    from ...npu.models import compile_npu_model, usual_options
    from ..terminal import note_doubts

    model = compile_npu_model(path, say, usual_options(hardware))
    note_doubts(path, model.compiled.doubts)
    return model.file()


def hardware_name(options: TorqOptions) -> str | None:
    """The NPU that is asked for. Raises CommandError if there is none, or no such file."""
    from assay.hw.torq.facts import hardware as machines

    require_file(options.path)
    try:
        machines.hardware(options.hardware or machines.DEFAULT)
    except machines.HardwareError as error:
        raise CommandError(str(error), code=USAGE) from error
    return options.hardware


@contextmanager
def usage_errors() -> Iterator[None]:
    """Say in terms of options what does not fit an executable."""
    from ...npu import NpuInputError

    try:
        yield
    except NpuInputError as error:
        example = " ".join(f"--input {kind}=0" for kind in error.kinds)
        hint = f"; for example {example}" if example else ""
        raise CommandError(f"{error}{hint}", code=USAGE) from error


def _timed(
    function: "NpuFunction", values: "Sequence[Value]", timer: "NpuTimer", trace: Path | None
) -> "list[Value]":
    """The results; if the run fails, `trace` shows it up to there."""
    from assay.hal.observe import timing

    with usage_errors():
        function.check_inputs(values)  # before there is anything that a timeline could show
        function.load()
    with timing(timer), kept_timeline(trace, lambda path: _save(function, timer, path)):
        return function.invoke(values)


def _save(function: "NpuFunction", timer: "NpuTimer", path: Path) -> None:
    """Writes the timeline of all runs, if any began."""
    if timer.results:
        timer.whole(function.name).save_trace(path)

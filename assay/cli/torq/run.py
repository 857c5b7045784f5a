"""`assay run` and `assay check` of a Torq executable: its host actions on an emulated NPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..crash_trace import kept_timeline
from ..failures import USAGE, CommandError

if TYPE_CHECKING:
    import numpy as np

    from assay.hal.torq.executable import HostCall, HostFunction, LoadedExecutable
    from assay.hal.torq.format import BufferInfo, Executable
    from assay.hw.torq.check.checker import Checker
    from assay.hw.torq.check.finding import Finding

    from ...elements import Value

    Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqOptions:
    """Which executable of which file, on which NPU; `skip_host_code` leaves out what is machine
    code for the board's own processor."""

    path: Path
    function: str | None
    hardware: str | None
    skip_host_code: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqRun:
    """What a run gave: the buffers that the program writes, and the NPU's cycles."""

    name: str
    results: "list[Value]"
    cycles: int


def first(text: str) -> str:
    """What to say while something runs on the NPU: with what comes before, if that takes long."""
    from assay.hw.torq.datapath.run import UNIT

    long = "compiling the emulated NPU, which takes some seconds once, then "
    return text if UNIT.is_cached() else long + text


def run_torq(options: TorqOptions, values: "Sequence[Value]", trace: Path | None = None) -> TorqRun:
    """Runs one executable of a container. Raises CommandError and StatusError."""
    from assay.hw.torq.timing.unit_time import npu_time

    name, loaded = load_torq(options, record=trace is not None)
    buffers = _buffers(loaded, values)
    with kept_timeline(trace, lambda path: save_trace(loaded, name, path)):
        loaded.dispatch(buffers)
    cycles = npu_time(loaded.device.events).cycles
    if trace is not None:
        save_trace(loaded, name, trace)
    results = [_typed(buffers[number], loaded.described(number)) for number in loaded.outputs()]
    return TorqRun(name=name, results=results, cycles=cycles)


def timed_torq(
    options: TorqOptions, values: "Sequence[Value]", trace: Path | None = None
) -> "tuple[str, LoadedExecutable]":
    """Runs one executable and records it; inputs are zeros if none are given.

    If the run fails, `trace` shows it up to there.
    """
    name, loaded = load_torq(options, record=True)
    buffers = _buffers(loaded, values or _zeros(loaded))
    with kept_timeline(trace, lambda path: save_trace(loaded, name, path)):
        loaded.dispatch(buffers)
    return name, loaded


def check_torq(
    options: TorqOptions, values: "Sequence[Value]", *, unread: bool = False
) -> "tuple[str, tuple[Finding, ...]]":
    """Runs one executable while it is watched; gives its name and what was found.

    `unread`: also what it writes and nobody reads. Inputs are zeros if none are given. A fault of
    the NPU is a finding, not an error.
    """
    from assay.hal.status import StatusError
    from assay.hal.torq.lifetimes import over_budget
    from assay.hw.torq.check.checker import Checker

    from ...reports.torq_findings import symbols

    name, executable = _opened(options)
    checker = Checker(symbols(executable), notes=executable.notes, unread=unread)
    loaded = _loaded(options, name, executable, checker=checker)
    try:
        loaded.dispatch(_buffers(loaded, values or _zeros(loaded)))
        checker.finish()
    except StatusError:
        if not checker.findings:
            raise
    budget = over_budget(executable, loaded.device.machine.lram)
    return name, (*([budget] if budget else []), *checker.findings)


def load_torq(options: TorqOptions, *, record: bool = False) -> "tuple[str, LoadedExecutable]":
    """The executable, loaded into an NPU. Raises CommandError and StatusError."""
    name, executable = _opened(options)
    return name, _loaded(options, name, executable, record=record)


def _opened(options: TorqOptions) -> "tuple[str, Executable]":
    """The executable that is asked for, with its member's name."""
    from assay.hal.torq.archive import read_container

    path = options.path
    if not path.is_file():
        raise CommandError(f"{path}: there is no such file", code=USAGE)
    members = read_container(path.read_bytes(), str(path)).executables
    return _chosen(members, options.function)


def _loaded(
    options: TorqOptions,
    name: str,
    executable: "Executable",
    *,
    record: bool = False,
    checker: "Checker | None" = None,
) -> "LoadedExecutable":
    from assay.hal.torq.executable import LoadedExecutable
    from assay.hw.torq.device.device import Device
    from assay.hw.torq.facts import hardware as machines
    from assay.hw.torq.facts.costs import machine_of

    try:
        npu = machines.hardware(options.hardware or machines.DEFAULT)
    except machines.HardwareError as error:
        raise CommandError(str(error), code=USAGE) from error
    return LoadedExecutable(
        executable,
        device=Device(machine_of(npu), record_accesses=record, checker=checker),
        npu=npu,
        host_functions=_skipped(executable) if options.skip_host_code else {},
        name=f"{options.path}: {name}",
    )


def _skipped(executable: "Executable") -> "dict[str, HostFunction]":
    """Functions that do nothing for all of the host code.

    A check takes their arguments for written: which of them are results, the file does not say.
    """
    from assay.hal.torq.format import StartHost

    def nothing(call: "HostCall") -> None:
        checker = call.device.checker
        if checker is not None:
            for start, size in zip(call.arguments, call.sizes, strict=False):
                checker.assume_written("XRAM", start, start + size)

    return {a.function: nothing for a in executable.actions if isinstance(a, StartHost)}


def save_trace(loaded: "LoadedExecutable", name: str, path: Path) -> None:
    """Writes the timeline of a recorded run."""
    from assay.hw.torq.timing.timeline import timeline
    from assay.traces.files import write_trace

    device = loaded.device
    names = loaded.executable.notes.symbols
    found = timeline(
        device.events,
        device.machine,
        accesses=device.accesses,
        symbols=[(s.start, s.stop, s.name) for s in names if s.memory == "LRAM"],
        title=name,
    )
    write_trace(found, path)


def _chosen(
    executables: "Sequence[tuple[str, Executable]]", function: str | None
) -> "tuple[str, Executable]":
    """The executable whose member or own name contains what `--function` says."""
    found = [
        (member, executable)
        for member, executable in executables
        if function is None or function in member or function in executable.name
    ]
    if len(found) != 1:
        listed = ", ".join(member for member, _ in executables)
        problem = "several executables are there" if found else "no executable matches"
        raise CommandError(f"--function {function or ''}: {problem}: {listed}", code=USAGE)
    return found[0]


def _buffers(loaded: "LoadedExecutable", values: "Sequence[Value]") -> "list[Bytes]":
    """A buffer per number, zeros at first.

    Inputs are, in order, all buffers that are read, or those that are only read: older compilers
    do not say which are only written.
    """
    import numpy as np

    sizes, inputs = loaded.buffer_sizes(), loaded.inputs()
    if len(values) != len(inputs):
        inputs = tuple(number for number in inputs if number not in loaded.outputs())
    if len(values) != len(inputs):
        wanted = ", ".join(f"{sizes[number]} bytes" for number in inputs) or "none"
        raise CommandError(
            f"{len(values)} times --input for {len(inputs)} buffers that are read ({wanted}); "
            f"for example --input {sizes[inputs[0]] if inputs else 1}xi8=0",
            code=USAGE,
        )
    buffers = [
        np.zeros(sizes.get(number, 0), np.uint8) for number in range(max(sizes, default=-1) + 1)
    ]
    for number, value in zip(inputs, values, strict=True):
        data = np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8)
        if len(data) != sizes[number]:
            raise CommandError(
                f"--input of {len(data)} bytes for buffer {number}, which has {sizes[number]}",
                code=USAGE,
            )
        buffers[number][:] = data
    return buffers


def _zeros(loaded: "LoadedExecutable") -> "list[Value]":
    import numpy as np

    sizes = loaded.buffer_sizes()
    return [np.zeros(sizes[number], np.int8) for number in loaded.inputs()]


def _typed(data: "Bytes", info: "BufferInfo | None") -> "Value":
    """A buffer with the type and shape that the executable states, else as bytes."""
    import ml_dtypes
    import numpy as np

    from assay.hal.torq.format import ElementType

    types: dict[ElementType, np.dtype[np.generic]] = {
        ElementType.I8: np.dtype(np.int8),
        ElementType.I16: np.dtype(np.int16),
        ElementType.I32: np.dtype(np.int32),
        ElementType.I64: np.dtype(np.int64),
        ElementType.F32: np.dtype(np.float32),
        ElementType.BF16: np.dtype(ml_dtypes.bfloat16),
    }
    if info is None or info.element_type not in types:
        return data.view(np.int8)
    kind = types[info.element_type]
    count = 1
    for steps in info.shape:
        count *= steps
    if count * kind.itemsize != len(data):
        return data.view(np.int8)
    return data.view(kind).reshape(info.shape)

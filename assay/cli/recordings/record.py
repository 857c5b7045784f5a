"""`assay record`: runs a program on real Metal and keeps what it dispatched."""

import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ..crash_trace import signals_as_exits
from ..failures import USAGE, CommandError, report
from ..options.groups import grouped
from ..options.iree import IreeOptions
from ..options.shared import (
    DEVICES,
    FunctionName,
    Inputs,
    Parameters,
    load_function,
    need_inputs,
    open_model,
)
from ..terminal import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.hal.metal.recorder import Chosen, RecordingMetal

_INTERRUPTED = 130  # what shells say of Ctrl-C
_TIMEOUT = 124  # what `timeout` of the shell ends with


@dataclass(frozen=True, slots=True, kw_only=True)
class WhichOptions:
    """Which dispatches are kept."""

    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", help="Only kernels of this name; * fits any text."),
    ] = None
    every: Annotated[
        int, typer.Option("--every", min=1, help="Only each so-manieth dispatch of a kernel.")
    ] = 1
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help="At most so many dispatches.")
    ] = None

    def chosen(self) -> "Chosen":
        """What the options say."""
        from assay.hal.metal.recorder import Chosen

        return Chosen(kernels=tuple(self.kernel or ()), every=self.every, limit=self.limit)


Program = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A Python file, a module or model, an .ireereplay, or with -m the name of a "
        "Python module.",
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ARGUMENTS]...", help="What a Python program is given; options behind --."
    ),
]
IsModule = Annotated[
    bool, typer.Option("-m", help="PROGRAM names a Python module, such as pytest.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The recording; PROGRAM.assay-recording if not given."),
]
Recorded = Annotated[
    str,
    typer.Option(
        "--device", help="[bold]native[/bold], Apple's Metal on a Mac, or [bold]emulated[/bold]."
    ),
]
Patch = Annotated[
    list[str] | None,
    typer.Option(
        "--patch",
        metavar="LIBRARY",
        help="Record kernels of mx.fast.metal_kernel ([bold]mlx[/bold]) or "
        "torch.mps.compile_shader ([bold]torch[/bold]), too. Not needed for what a script itself "
        "imports.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.0, help="End after so many seconds; what ran is kept."),
]


class RecordCommand(TyperCommand):
    """Behind `-m MODULE` all is the module's, options too, as for `python -m`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options end at the module's name."""
        own = args[: args.index("--")] if "--" in args else args
        if "-m" in own:
            ctx.allow_interspersed_args = False
        return super().parse_args(ctx, args)


@grouped
def record_command(
    program: Program,
    arguments: Arguments = None,
    is_module: IsModule = False,
    function: FunctionName = None,
    input: Inputs = None,
    parameters: Parameters = None,
    output: Output = None,
    device: Recorded = "native",
    timeout: Timeout = None,
    patch: Patch = None,
    *,
    which: WhichOptions,
    iree: IreeOptions,
) -> None:
    """Run a program on a Mac and keep, in one file, all that its GPU was given and gave.

    For each dispatch: its kernel's source or library, constants and grid, every buffer it can
    reach before and after, and when the GPU ran it. [bold]assay replay[/bold] runs the file on any
    machine and compares. Dispatches run one by one meanwhile. If none was recorded, there is no
    file, and the exit code is 2, or the program's.

    [bold]Examples[/bold]

      assay record program.py -- --size 512

      assay record model.vmfb --input @image.npy --limit 100

      assay record --timeout 600 -m pytest -q tests/gpu

      assay record program.py --device emulated -o here.assay-recording
    """
    from ...recordings import recording

    path = _checked(output, program)
    if is_module and arguments and arguments[0] == "--":
        arguments = arguments[1:]
    run = runner_of(program, arguments, function, input, parameters, iree, is_module=is_module)
    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    libraries = libraries_of(program, patch, device, is_module=is_module)
    name = Path(program).name
    with (
        signals_as_exits() as signals,
        _ended_by_somebody(path) as recorders,
        recording(path, device, program=name, chosen=which.chosen(), libraries=libraries) as metal,
        _ended_after(timeout, metal, path),
    ):
        recorders.append(metal)
        code = run(device)
        if signals:  # which a program catches like its own exit
            raise SystemExit(128 + signals[0])
        metal.finish()
    _tell(path, metal)
    if code:
        raise typer.Exit(code)
    _need_dispatches(name, metal)


def _checked(output: Path | None, program: str) -> Path:
    """Where to record, which must not be what a recording cannot replace. Raises CommandError."""
    from assay.hal.recordings import SUFFIX, check_target, partials_of

    path = output or Path(f"{Path(program).name.removesuffix('.py')}{SUFFIX}")
    try:
        check_target(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", code=USAGE) from None
    for left in partials_of(path):
        note(f"{left} is what a recording has that was killed, or that still runs")
    return path


def _need_dispatches(name: str, metal: "RecordingMetal") -> None:
    """Refuse a recording of nothing, which CI would take for one. Raises CommandError."""
    count, left_out = metal.recorded()
    if not count:
        why = "see the notes above" if left_out else "it dispatched none"
        raise CommandError(f"{name}: no dispatch was recorded; {why}", code=USAGE)


def runner_of(
    program: str,
    arguments: list[str] | None,
    function: str | None,
    given: list[str] | None,
    parameters: list[str] | None,
    iree: IreeOptions,
    *,
    is_module: bool,
) -> "Callable[[str], int]":
    """What runs the program on a device and tells its exit code. Raises CommandError."""
    from assay.hal.captures import SUFFIX

    if not is_module and not Path(program).is_file():
        raise CommandError(f"{program}: there is no such file")
    if is_module or Path(program).suffix == ".py":
        if function or given or parameters:
            raise CommandError("--function, --input and --parameters are for modules", code=USAGE)
        return partial(_run_python, program, arguments or [], is_module=is_module)
    if arguments:
        raise CommandError("a module takes --input, and no arguments", code=USAGE)
    if Path(program).suffix == SUFFIX:
        if function or given or parameters:
            raise CommandError("a capture has its function and inputs in it", code=USAGE)
        return partial(_run_capture, Path(program))
    return partial(_run_function, Path(program), function, given or [], parameters, iree)


def libraries_of(
    program: str, patch: list[str] | None, device: str, *, is_module: bool
) -> "Sequence[str]":
    """The libraries whose kernels are recorded, made to run here. Raises CommandError."""
    from ... import scripts
    from ...recordings.hooks import LIBRARIES

    for name in patch or ():
        if name not in LIBRARIES:
            raise CommandError(f"--patch {name}: expected {' or '.join(LIBRARIES)}", code=USAGE)
    chosen: Sequence[str] = patch or ()
    if not patch and not is_module and Path(program).suffix == ".py":
        chosen = [name for name in scripts.imported_libraries(Path(program)) if name in LIBRARIES]
    if device == "emulated":
        try:
            scripts.patch(*chosen)
        except scripts.PatchError as error:
            raise CommandError(f"--patch {error}") from None
    return chosen


def _run_python(program: str, arguments: list[str], device: str, *, is_module: bool) -> int:
    from ... import scripts

    scripts.install(device)
    if is_module:
        return scripts.run_module(program, arguments)
    return scripts.run_script(Path(program), arguments)


def _run_capture(path: Path, device: str) -> int:
    from ...recordings.captures import run_capture
    from ..terminal import progress

    with progress() as say:
        run_capture(path, device, say)
    return 0


def _run_function(
    path: Path,
    name: str | None,
    given: list[str],
    parameters: list[str] | None,
    iree: IreeOptions,
    device: str,
) -> int:
    from ...text_values import parse_inputs
    from ..terminal import progress

    with progress() as say:
        opened = open_model(path, iree, say=say)
        say(f"running on the {device} device")
        function = load_function(opened, name, device=device, parameters=parameters)
        values = parse_inputs(given)
        need_inputs(function, len(values))
        function.invoke(values)
    return 0


@contextmanager
def _ended_by_somebody(path: Path) -> "Iterator[list[RecordingMetal]]":
    """After Ctrl-C or a signal, end even if the device still waits for what does not come."""
    recorders: list[RecordingMetal] = []
    try:
        yield recorders
    except (KeyboardInterrupt, SystemExit) as end:
        code = end.code if isinstance(end, SystemExit) else _INTERRUPTED
        for metal in recorders:
            _tell(path, metal)
        print(f"error: {path.name}: stopped before its end", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else _INTERRUPTED)


@contextmanager
def _ended_after(seconds: float | None, metal: "RecordingMetal", path: Path) -> "Iterator[None]":
    """End the process after so long, with what is recorded: a GPU may hang for ever."""
    if seconds is None:
        yield
        return

    ending = threading.Lock()  # held by who ends the process: this thread or the timer's

    def end() -> None:
        if not ending.acquire(blocking=False):
            return
        code = _TIMEOUT
        try:
            metal.stop()
            _tell(path, metal)
            print(f"error: {path.name}: stopped after {seconds:g} s", file=sys.stderr, flush=True)
        except Exception as error:  # such as a full disk
            code = report(error)
        finally:
            os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        ending.acquire()  # for ever, if the time was over before


def _tell(path: Path, metal: "RecordingMetal") -> None:
    count, left_out = metal.recorded()
    if count:
        size = path.stat().st_size
        note(f"{path}: {count:,} dispatch{'' if count == 1 else 'es'}, {size:,} bytes")
    elif path.exists():
        note(f"{path}: kept as it was, without this run")
    else:
        note(f"{path}: not written, as nothing was recorded")
    for reason, number in sorted(left_out.items()):
        note(f"not recorded: {number:,} x {reason}")

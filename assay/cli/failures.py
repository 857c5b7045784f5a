"""Turns whatever goes wrong into one message on stderr and an exit code; never a traceback."""

import contextlib
import os
import sys

from .streams import abandon_stdout, prepare, stdout_failure

FAILED = 1
USAGE = 2
INTERRUPTED = 130

_state = {"code": FAILED}

_KNOWN = {
    ("assay.compiler.models", "ModelError"): "compile",
    ("assay.text_values", "InputError"): "input",
    ("assay.reference", "CpuError"): "reference",
    ("assay.hal.status", "StatusError"): "run",
    ("assay.hal.vm", "VmError"): "run",
    ("assay.compiler.msl", "CompileError"): "msl",
    ("assay.prediction", "TimeInputError"): "input",
    ("assay.hw.facts", "SpecError"): "input",
    ("assay.sim.simt", "KernelFault"): "kernel",
    ("assay.sim.simt", "UnsupportedKernel"): "kernel",
    ("assay.hal.metal", "MetalValidationError"): "metal",
    ("assay.hal.metal.api", "NoSuchMetal"): "device",
    ("assay.hal.captures", "CaptureError"): "capture",
    ("assay.hal.recordings", "RecordingError"): "recording",
    ("assay.recordings.tolerances", "ToleranceError"): "input",
    ("assay.hw.torq.words.commands_json", "CommandError"): "torq",
    ("assay.hw.torq.words.errors", "EncodeError"): "torq",
    ("assay.hw.torq.words.errors", "DecodeError"): "torq",
    ("assay.traces", "TraceError"): "trace",
    ("assay.sweeps.errors", "SweepError"): "sweep",
}
"""Errors that speak to users by themselves, and what `--json` calls them."""


class CommandError(Exception):
    """A command cannot do what was asked; `str()` is the message for the user."""

    def __init__(self, message: str, *, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def run_guarded() -> int:
    """Runs the application; returns the exit code of the process."""
    prepare()
    _state["code"] = FAILED
    code = _run()
    failure = stdout_failure()
    if failure is None:
        return code
    abandon_stdout()
    _tell(f"the output cannot be written to stdout: {failure.strerror or failure}")
    return USAGE


def errors_end_with(code: int) -> None:
    """From now on errors that are shown to users end with `code`: 1 may mean something else."""
    _state["code"] = code


def _run() -> int:
    try:
        _application()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        _tell("interrupted", is_error=False)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone; nothing is left to say.
        abandon_stdout()
        return FAILED
    except Exception as error:
        # Of a stdout that takes nothing, the caller tells.
        return USAGE if stdout_failure() is not None else report(error)
    return 0


def _application() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered without loading the commands
        from .. import __version__

        print(f"assay {__version__}")
        return
    from .app import app

    app(standalone_mode=True)


def report(error: Exception) -> int:
    """Prints an error the way it deserves and returns the exit code."""
    if os.environ.get("ASSAY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    kind, message = describe(error)
    from .terminal import json_wanted, print_json

    _tell(message)
    if json_wanted():
        with contextlib.suppress(OSError):  # the caller reports a stdout that takes nothing
            print_json({"error": {"kind": kind, "message": message}})
    if isinstance(error, CommandError):
        return error.code
    return USAGE if kind == "internal" else _state["code"]


def _tell(message: str, *, is_error: bool = True) -> None:
    """Print a message on stderr, if that takes one."""
    from .terminal import print_error

    with contextlib.suppress(OSError):  # closed or full: the exit code says what can be said
        if is_error:
            print_error(message)
        else:
            print(message, file=sys.stderr)
        sys.stderr.flush()


def describe(error: Exception) -> tuple[str, str]:
    """A stable word for the kind of error, and the message for people."""
    if isinstance(error, CommandError):
        return "usage" if error.code == USAGE else "command", str(error)
    known = _known_kind(error)
    if known is not None:
        return known, _with_hint(str(error) or type(error).__name__)
    if isinstance(error, MemoryError):
        return "memory", f"there is not enough memory for this: {error}".rstrip(": ")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return "file", f"{where}{error.strerror or error}"
    first = str(error).strip().splitlines()[:1]
    what = f"{type(error).__name__}: {first[0]}" if first else type(error).__name__
    return "internal", (
        f"internal error ({what}). This is a fault in Assay, not in your program: please report "
        "it with the command and, if you can, the model. ASSAY_DEBUG=1 shows the traceback."
    )


def _with_hint(message: str) -> str:
    """A message, with the way round for a defect of IREE's compiler that shows at run time."""
    if "the command buffer takes no binding table" not in message:
        return message
    return (
        f"{message}\nIREE 3.13 compiles some loops so that a copy gets no buffer; compile the "
        "model again with --compile-flag=--iree-hal-indirect-command-buffers=false"
    )


def _known_kind(error: BaseException) -> str | None:
    """The kind of an error whose class is known, looked for without importing anything."""
    for (module_name, class_name), kind in _KNOWN.items():
        module = sys.modules.get(module_name)
        known = getattr(module, class_name, None) if module is not None else None
        if isinstance(known, type) and isinstance(error, known):
            return kind
    return None

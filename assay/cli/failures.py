"""Turns whatever goes wrong into one message on stderr and an exit code; never a traceback."""

import os
import sys

FAILED = 1
USAGE = 2
INTERRUPTED = 130

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
    ("assay.hw.torq.words.commands_json", "CommandError"): "torq",
    ("assay.hw.torq.words.errors", "EncodeError"): "torq",
    ("assay.hw.torq.words.errors", "DecodeError"): "torq",
    ("assay.traces", "TraceError"): "trace",
}
"""Errors that speak to users by themselves, and what `--json` calls them."""


class CommandError(Exception):
    """A command cannot do what was asked; `str()` is the message for the user."""

    def __init__(self, message: str, *, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def run_guarded() -> int:
    """Runs the application; returns the exit code of the process."""
    try:
        from .app import app

        app(standalone_mode=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return report(error)
    return 0


def report(error: Exception) -> int:
    """Prints an error the way it deserves and returns the exit code."""
    if os.environ.get("ASSAY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    kind, message = describe(error)
    from .terminal import json_wanted, print_error, print_json

    print_error(message)
    if json_wanted():
        print_json({"error": {"kind": kind, "message": message}})
    return error.code if isinstance(error, CommandError) else FAILED


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

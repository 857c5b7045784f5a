"""Compiles one model: import to MLIR, compile, and again with a work-around when one is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.sim.native.work_folder import work_folder

from . import diagnostics, importers, tools
from .defects import Defect, find_defect
from .errors import ModelError
from .formats import ModelFormat, is_module, model_format, read_head
from .kept import Kept, find, keep, key_of

Target = Literal["metal", "llvm-cpu", "both"]
"""`both` puts kernels for Metal and for the CPU into one module; the device picks its own."""
Progress = Callable[[str], None]

_TARGET_FLAGS: dict[Target, tuple[str, ...]] = {
    "metal": ("--iree-hal-target-device=metal",),
    "llvm-cpu": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ),
    "both": (
        # The comma means: whichever device is there. Linking would drop one of the two variants.
        "--iree-hal-target-device=metal,local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        "--iree-hal-link-executables=false",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledModel:
    """A module that a model was compiled to."""

    source: Path
    target: Target
    data: bytes
    """The `.vmfb`."""
    notes: tuple[str, ...]
    """What was done beyond the plain command, in sentences; empty in the plain case."""
    flags: tuple[str, ...]
    """The flags `iree-compile` was given."""


def compile_model(
    path: str | Path,
    output: str | Path | None = None,
    *,
    target: Target = "metal",
    flags: Sequence[str] = (),
    progress: Progress | None = None,
    cache: bool = True,
) -> CompiledModel:
    """Compiles a `.mlir`, `.mlirbc`, `.onnx` or `.tflite` file with IREE.

    `flags` go to `iree-compile` as they are. Work-arounds for known defects of the compiler are
    added only when it failed without them, and are named in `notes`. The module is kept in the
    cache folder under the model's contents, the flags and the versions of the tools; with `cache`
    False it is neither looked up nor kept. Raises `ModelError`.
    """
    source = Path(path)
    say = progress or (lambda text: None)
    if is_module(read_head(source)):
        raise ModelError(f"{source}: this is a compiled module already; run it as it is")
    kind = model_format(source)
    all_flags = (*_TARGET_FLAGS[target], *flags)
    key = key_of(source, kind, target, all_flags, flags) if cache else None
    made = find(key)
    if made is None:
        made = _import_and_compile(source, kind, target, all_flags, say)
        keep(key, made)
    if output is not None:
        _write(Path(output), made.data)
    return CompiledModel(
        source=source, target=target, data=made.data, notes=made.notes, flags=made.flags
    )


def _import_and_compile(
    source: Path, kind: ModelFormat, target: Target, flags: tuple[str, ...], say: Progress
) -> Kept:
    with work_folder() as work:
        mlir, notes = importers.to_mlir(source, kind, work, say)
        say(f"compiling {source.name} for {target}")
        return _compile(source, mlir, work / "module.vmfb", target, flags, notes, say)


def _compile(
    source: Path,
    mlir: Path,
    output: Path,
    target: Target,
    flags: tuple[str, ...],
    notes: tuple[str, ...],
    say: Progress,
) -> Kept:
    """Compiles with ever more work-arounds until it succeeds or none is left to try."""
    tried: list[Defect] = []
    while True:
        command = [*tools.iree_compile(), str(mlir), *flags, "-o", str(output)]
        done = tools.run(command, name="iree-compile")
        if done.returncode == 0:
            break
        defect = find_defect(done.stderr, "llvm-cpu" if target == "llvm-cpu" else "metal")
        if defect is None or defect in tried or not _has_way_round(defect, target):
            raise _failure(source, mlir, target, done.stderr, defect)
        say(f"compiling {source.name} again: {defect.meaning}")
        tried.append(defect)
        flags = (*(f for f in flags if not f.startswith(defect.replaces)), *defect.flags)
    notes = (*notes, *(f"{defect.meaning}: {defect.help}" for defect in tried))
    if diagnostics.signature_changes(done.stderr):
        notes = (*notes, "IREE changed f64 or i64 in public signatures to f32 or i32")
    return Kept(output.read_bytes(), notes, flags)


def _has_way_round(defect: Defect, target: Target) -> bool:
    """Whether flags help; a target that is spelled out cannot stand beside a second one."""
    return bool(defect.flags) and not (target == "both" and defect.replaces)


def _failure(
    source: Path, mlir: Path, target: Target, log: str, defect: Defect | None
) -> ModelError:
    log = log.replace(str(mlir), str(source))
    message = f"{source}: IREE cannot compile this model for {target}:\n{diagnostics.summary(log)}"
    if defect is not None:
        advice = "the known way round does not help here" if defect.flags else defect.help
        message += f"\n{defect.meaning}; {advice}."
    return ModelError(message, log=log)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error.strerror or error}") from None

"""Models compiled to executables of the NPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Say = Callable[[str], None]


def compile_executable(path: str | Path, say: Say | None = None) -> bytes:
    """The executable of a quantised model (`.tflite`, TOSA or linalg as `.mlir`), or of TorqHL.

    Args:
        path: the model's file.
        say: is called with what is done now.

    Raises:
        ModelError: for a model that is damaged, or has what no kernel of the NPU can do; all
            operators of that kind are named at once.
    """
    from assay.compiler.torq.schedule.compile import compiled
    from assay.hal.torq.pack import pack
    from assay.hal.torq.write import write_executable

    source = Path(path)
    return write_executable(pack(compiled(source, say).program, source.stem))

"""ONNX models as files of TOSA that other compilers read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.sim.native.work_folder import work_folder

from ..mlir import new_context
from .convert import converted

_ZERO = re.compile(r"dense<(128|32768)>( : tensor<1x)u(i8|i16)>")
_UNSIGNED = re.compile(r"xu(i8|i16)>")


@contextmanager
def tosa_file(path: Path) -> Iterator[Path]:
    """A file with the model in TOSA, which goes with the context. Raises ModelError.

    Unsigned integers have signless types in it, as IREE wants them: RESCALE says how they are
    meant.
    """
    text = str(converted(path, new_context()).module)
    text = _ZERO.sub(lambda m: f"dense<-{m[1]}>{m[2]}{m[3]}>", text)
    with work_folder() as folder:
        made = folder / f"{path.stem}.mlir"
        made.write_text(_UNSIGNED.sub(lambda m: f"x{m[1]}>", text))
        yield made

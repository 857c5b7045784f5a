"""A file for the passes: a model of any format, or TorqHL's own text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ...graph.importer import import_model
from ...models.errors import ModelError
from ...models.formats import model_format, read_head
from ..hl.dialect import hl_context

_OWN = re.compile(rb'= "?torq_hl\.')


def load(path: Path, progress: Callable[[str], None] | None = None) -> ModuleOp:
    """The module in a file. Raises ModelError."""
    read_head(path)
    if model_format(path) == "mlir" and _OWN.search(data := path.read_bytes()):
        return _parsed(data, path)
    return import_model(path, hl_context(), progress)


def _parsed(data: bytes, path: Path) -> ModuleOp:
    try:
        module = Parser(hl_context(), data.decode(), str(path)).parse_module()
        module.verify()
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is neither text nor MLIR bytecode") from None
    except (ParseError, VerifyException) as error:
        lines = [line.rstrip() for line in str(error).strip().splitlines() if line.strip()]
        shown = "\n".join(f"  {line}" for line in lines[-4:])
        raise ModelError(f"{path}: this is not TorqHL:\n{shown}") from None
    return module

"""A file for the passes: a model of any format, or the text of the NPU's own dialects."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ...graph.bodies import check_bodies
from ...graph.importer import import_model
from ...graph.quotes import check_quotes
from ...models.errors import ModelError
from ...models.formats import model_format, read_head
from ..hl.dialect import hl_context, verified
from ..hw.dialect import hw_context
from ..plan.dialect import plan_context

_HL = re.compile(rb'= "?torq_hl\.|torq_plan\.schedule')
_HW = re.compile(rb'^\s*"?torq_hw\.', re.MULTILINE)


def load(path: Path, progress: Callable[[str], None] | None = None) -> ModuleOp:
    """The module in a file. Raises ModelError."""
    read_head(path)
    if model_format(path) == "mlir":
        data = path.read_bytes()
        if _HW.search(data):
            return _parsed(data, path, hw_context(), "TorqHW")
        if _HL.search(data):
            module = _parsed(data, path, plan_context(), "TorqHL")
            check_bodies(module, str(path))
            return module
    return import_model(path, hl_context(), progress)


def _parsed(data: bytes, path: Path, context: Context, dialect: str) -> ModuleOp:
    try:
        text = data.decode()
        check_quotes(text, str(path))
        module = verified(Parser(context, text, str(path)).parse_module())
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is neither text nor MLIR bytecode") from None
    except (ParseError, VerifyException) as error:
        lines = [line.rstrip() for line in str(error).strip().splitlines() if line.strip()]
        shown = "\n".join(f"  {line}" for line in lines[-4:])
        raise ModelError(f"{path}: this is not {dialect}:\n{shown}") from None
    except RecursionError:
        raise ModelError(f"{path}: this is not {dialect}: it is nested too deeply") from None
    return module

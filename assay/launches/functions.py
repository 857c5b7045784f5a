"""Which function of a module is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import LaunchInputError

if TYPE_CHECKING:
    from ..module import Function


def function_of(source: Any, name: str | None) -> Function:
    """The function of a module that is meant: one itself, or of a module or its path.

    Raises LaunchInputError, and TypeError for what is none of them.
    """
    from ..module import Function, Module, load

    if isinstance(source, Function):
        return source
    module = load(source) if isinstance(source, str | Path) else source
    if not isinstance(module, Module):
        kind = type(module).__name__
        raise TypeError(f"a path, a module, a function of one or MSL is needed, not {kind!r}")
    if name is not None:
        if name in module.functions:
            return module.functions[name]
    elif len(names := [each for each in module.functions if not each.endswith("$async")]) == 1:
        return module.functions[names[0]]
    elif "main" in module.functions:
        return module.functions["main"]
    known = ", ".join(module.functions) or "none"
    what = f"there is no function {name!r}" if name is not None else "say which function"
    raise LaunchInputError(f"module {module.name}: {what}; there are {known}")

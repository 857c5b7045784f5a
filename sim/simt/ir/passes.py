"""The passes that change a function, and a check that may run behind each of them.

Production checks nothing here. Tests put the verifier behind every pass, so that a pass that breaks
the IR is named, and not the next one that stumbles over it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .nodes import Function

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[Function, str], None]

PASSES: dict[str, Callable[..., object]] = {}
"""All passes by module and name."""
_check: Check | None = None


def check_behind_passes(check: Check | None) -> None:
    """Let `check` see every function that a pass has changed, with the name of the pass."""
    global _check
    _check = check


def rewrites(run: Callable[P, R]) -> Callable[P, R]:
    """Marks a pass: a function that changes a `Function` among its arguments, or makes one."""
    name = f"{run.__module__}.{run.__qualname__}"
    PASSES[name] = run

    @functools.wraps(run)
    def checked(*arguments: P.args, **named: P.kwargs) -> R:
        result = run(*arguments, **named)
        if _check is not None:
            changed = (result, *arguments, *named.values())
            _check(next(each for each in changed if isinstance(each, Function)), name)
        return result

    return checked

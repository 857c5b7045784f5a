"""Running a module's test functions, as `iree-check-module` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..status import StatusError
from .session import LoadedModule, Session


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """How one test function ended: `failures` are failed expectations, `error` stopped it."""

    name: str
    outcome: Literal["passed", "failed"]
    failures: tuple[str, ...]
    error: str | None


def run_tests(session: Session, module: LoadedModule) -> tuple[CheckResult, ...]:
    """Call every exported function and collect what it expected in vain."""
    return tuple(run_test(session, module, name) for name in test_names(module))


def test_names(module: LoadedModule) -> tuple[str, ...]:
    """The functions that are tests: all exports, less the asynchronous twins of others."""
    return tuple(name for name, info in module.functions.items() if not info.asynchronous)


def run_test(session: Session, module: LoadedModule, name: str) -> CheckResult:
    """Call one test function.

    One with arguments or results is an error of the module, as in IREE: a test has none.
    """
    info = module.functions[name]
    session.take_check_failures()
    error = None
    if info.arguments or info.results:
        error = (
            "INVALID_ARGUMENT; expected function with no inputs or outputs, this one has "
            f"{len(info.arguments)} and {len(info.results)}"
        )
    else:
        try:
            module.invoke(name)
        except StatusError as status:
            error = str(status)
    failures = tuple(session.take_check_failures())
    return CheckResult(
        name=name,
        outcome="failed" if failures or error else "passed",
        failures=failures,
        error=error,
    )

"""`assay check-module`: runs every test function of a module, as `iree-check-module` does."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import FAILED, CommandError
from .options.groups import grouped
from .options.iree import IreeOptions
from .options.shared import (
    Device,
    Json,
    ModelPath,
    Parameters,
    load_module,
    open_model,
)

if TYPE_CHECKING:
    from assay.hal.vm.checks import CheckResult

    from ..module import Module


@grouped
def check_module_command(
    module: ModelPath,
    filter: Annotated[
        str | None, typer.Option("--filter", help="Run only functions whose name contains this.")
    ] = None,
    device: Device = "emulated",
    parameters: Parameters = None,
    *,
    iree: IreeOptions,
    json: Json = False,
) -> None:
    """Run every function without arguments of a module that uses IREE's check operations.

    A function passes when all of its expectations hold. Ends with exit code 1 when one fails.

    [bold]Examples[/bold]

      assay check-module tests.vmfb

      assay check-module tests.mlir --filter matmul
    """
    from .terminal import print_json, progress, want_json

    want_json(json)
    with progress() as say:
        opened = open_model(module, iree, say=say)
        say("loading")
        loaded = load_module(opened.data, device, parameters)
    names = _names(loaded, filter)
    if not names:
        raise CommandError(f"{module}: there is no function to run")
    if not json:
        typer.echo(f"[==========] Running {len(names)} tests from {loaded.name}.")
    start = time.perf_counter()
    results = [_run(loaded, name, quiet=json) for name in names]
    failed = [result for result in results if result.outcome == "failed"]
    if json:
        print_json(_json(loaded.name, results))
    else:
        _summary(results, failed, time.perf_counter() - start)
    if failed:
        raise typer.Exit(FAILED)


def _names(module: "Module", part: str | None) -> list[str]:
    from assay.hal.vm.checks import test_names

    return [name for name in test_names(module.loaded) if part is None or part in name]


def _run(module: "Module", name: str, *, quiet: bool) -> "CheckResult":
    """Runs one test; an error fails this test and leaves the others to run."""
    from assay.hal.vm.checks import run_test

    title = f"{module.name}.{name}"
    if not quiet:
        typer.echo(f"[ RUN      ] {title}")
    start = time.perf_counter()
    result = run_test(module.session, module.loaded, name)
    milliseconds = (time.perf_counter() - start) * 1000
    if not quiet:
        for failure in _failures(result):
            typer.echo(f"Failure\n{failure}")
        word = "[  FAILED  ]" if result.outcome == "failed" else "[       OK ]"
        typer.echo(f"{word} {title} ({milliseconds:.0f} ms)")
    return result


def _failures(result: "CheckResult") -> list[str]:
    return [*result.failures, *([result.error] if result.error else [])]


def _summary(results: "list[CheckResult]", failed: "list[CheckResult]", seconds: float) -> None:
    typer.echo(f"[==========] {len(results)} tests ran. ({seconds * 1000:.0f} ms total)")
    typer.echo(f"[  PASSED  ] {len(results) - len(failed)} tests.")
    if failed:
        typer.echo(f"[  FAILED  ] {len(failed)} tests, listed below:")
        for result in failed:
            typer.echo(f"[  FAILED  ] {result.name}")


def _json(module: str, results: "list[CheckResult]") -> dict[str, Any]:
    return {
        "module": module,
        "passed": all(result.outcome == "passed" for result in results),
        "tests": [
            {
                "name": result.name,
                "passed": result.outcome == "passed",
                "failures": _failures(result),
            }
            for result in results
        ],
    }

"""`assay check-module`: runs every test function of a module, as `iree-check-module` does."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import FAILED, CommandError, describe
from .options import CompileFlags, Device, Json, ModelPath, Parameters, load_module, open_model

if TYPE_CHECKING:
    from assay.module import Function, Module


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What became of one test function."""

    name: str
    failures: tuple[str, ...]
    """Expectations that did not hold, or the error that ended the function; empty when passed."""
    seconds: float


def check_module_command(
    module: ModelPath,
    filter: Annotated[
        str | None, typer.Option("--filter", help="Run only functions whose name contains this.")
    ] = None,
    device: Device = "emulated",
    parameters: Parameters = None,
    compile_flag: CompileFlags = None,
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
        opened = open_model(module, flags=compile_flag, say=say)
        say("loading")
        loaded = load_module(opened.data, device, parameters)
    tests = _tests(loaded, filter)
    if not tests:
        raise CommandError(f"{module}: there is no function to run; tests take no arguments")
    if not json:
        typer.echo(f"[==========] Running {len(tests)} tests from {loaded.name}.")
    verdicts = [_run(loaded, function, quiet=json) for function in tests]
    failed = [verdict for verdict in verdicts if verdict.failures]
    if json:
        print_json(_json(loaded.name, verdicts))
    else:
        _summary(verdicts, failed)
    if failed:
        raise typer.Exit(FAILED)


def _tests(module: "Module", part: str | None) -> "list[Function]":
    return [
        function
        for name, function in module.functions.items()
        if not function.signature.arguments
        and not name.endswith("$async")
        and (part is None or part in name)
    ]


def _run(module: "Module", function: "Function", *, quiet: bool) -> Verdict:
    """Runs one test; an error fails this test and leaves the others to run."""
    name = f"{module.name}.{function.name}"
    if not quiet:
        typer.echo(f"[ RUN      ] {name}")
    start = time.perf_counter()
    module.session.take_check_failures()
    failures: list[str] = []
    try:
        function.invoke([])
    except Exception as error:
        kind, message = describe(error)
        if kind == "internal":
            raise
        failures.append(message)
    failures = [*module.session.take_check_failures(), *failures]
    seconds = time.perf_counter() - start
    if not quiet:
        for failure in failures:
            typer.echo(f"Failure\n{failure}")
        word = "[  FAILED  ]" if failures else "[       OK ]"
        typer.echo(f"{word} {name} ({seconds * 1000:.0f} ms)")
    return Verdict(name=function.name, failures=tuple(failures), seconds=seconds)


def _summary(verdicts: list[Verdict], failed: list[Verdict]) -> None:
    seconds = sum(verdict.seconds for verdict in verdicts)
    typer.echo(f"[==========] {len(verdicts)} tests ran. ({seconds * 1000:.0f} ms total)")
    typer.echo(f"[  PASSED  ] {len(verdicts) - len(failed)} tests.")
    if failed:
        typer.echo(f"[  FAILED  ] {len(failed)} tests, listed below:")
        for verdict in failed:
            typer.echo(f"[  FAILED  ] {verdict.name}")


def _json(module: str, verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        "module": module,
        "passed": not any(verdict.failures for verdict in verdicts),
        "tests": [
            {
                "name": verdict.name,
                "passed": not verdict.failures,
                "failures": verdict.failures,
                "seconds": verdict.seconds,
            }
            for verdict in verdicts
        ],
    }

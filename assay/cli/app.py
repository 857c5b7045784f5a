"""The `assay` application: its commands, each in a file of its own."""

import typer

from . import (
    check,
    check_module,
    compile,
    demo,
    diff,
    foundry,
    inspect,
    prove,
    python,
    run,
    time,
    trace,
    view,
)
from .checks import reduce
from .metal import command as metal
from .modules import build
from .recordings import record, replay
from .sweeps import sweep, tune
from .torq import words as torq

app = typer.Typer(
    name="assay",
    help="Run, check, time and compare programs for Apple Metal GPUs on any machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    epilog="Start with [bold]assay check FILE.metal[/bold] for kernels, [bold]assay demo[/bold] "
    "for models. Every command explains itself: [bold]assay check --help[/bold]. "
    "Set ASSAY_DEBUG=1 to see tracebacks of internal errors.",
)
def _assay(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version and end."),
) -> None:
    if version:  # reached with further options beside it; alone it is answered earlier
        from .. import __version__

        typer.echo(f"assay {__version__}")
        raise typer.Exit


app.command("compile")(compile.compile_command)
app.command("metal", context_settings=metal.SETTINGS)(metal.metal_command)
app.command("build")(build.build_command)
app.command("run")(run.run_command)
app.command("diff")(diff.diff_command)
app.command("inspect")(inspect.inspect_command)
app.command("check")(check.check_command)
app.command("prove")(prove.prove_command)
app.command("reduce")(reduce.reduce_command)
app.command("check-module")(check_module.check_module_command)
app.command("time")(time.time_command)
app.command("sweep")(sweep.sweep_command)
app.command("tune")(tune.tune_command)
app.command("python")(python.python_command)
app.command("record", cls=record.RecordCommand)(record.record_command)
app.command("replay")(replay.replay_command)
app.command("demo")(demo.demo_command)
app.command("view")(view.view_command)
app.add_typer(trace.trace_app, name="trace")
app.add_typer(torq.torq_app, name="torq")
app.add_typer(foundry.foundry_app, name="foundry")

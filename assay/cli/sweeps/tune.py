"""`assay tune`: the best kernel for each size and chip in few runs, as a selector."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..crash_trace import signals_as_exits
from ..options.shared import Json, check_writable
from ..options.sweeps import Scheduler, SpaceFile, Workers
from ..terminal import print_json, progress, show, want_json

if TYPE_CHECKING:
    from ...sweeps import Loss, Tuned

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Where the selector goes; SPACE.selector.toml when not given.",
        show_default=False,
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="ROWS",
        help="Tell what the selector loses on the rows of a sweep: its folder.",
        show_default=False,
    ),
]


def tune_command(
    space: SpaceFile,
    output: Output = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    tolerance: Annotated[
        float,
        typer.Option("--tolerance", help="What a kernel for several sizes may lose.", min=0, max=1),
    ] = 0.02,
    given_only: Annotated[
        bool, typer.Option("--given-only", help="Try no sizes between those of the space.")
    ] = False,
    against: Against = None,
    json: Json = False,
) -> None:
    """Find the fastest kernel of a space for each size on each chip, in few runs.

    All kernels are tried for some sizes with a small sample, the better ones for all, the best with
    the usual sample. What is found is written as a selector: conditions on m, n and k.

    [bold]Examples[/bold]

      assay tune decode.toml

      assay tune decode.toml --against other-sizes.sweep
    """
    from ...sweeps import loss, tune
    from ...sweeps.store import read_rows

    want_json(json)
    output = output or Path(space.name).with_suffix(".selector.toml")
    check_writable("--output", output)
    rows = read_rows(against) if against is not None else None
    with signals_as_exits(), progress() as say:
        found = tune(
            space,
            workers=workers,
            scheduler=scheduler,
            tolerance=tolerance,
            between=not given_only,
            progress=lambda done, total: say(f"{done} of {total} runs"),
        )
    found.selector.save(output)
    lost = loss(found.selector, rows) if rows is not None else None
    if json:
        print_json(_document(found, output, lost))
        return
    _show(found, output, lost)


def _document(found: "Tuned", output: Path, lost: "Loss | None") -> dict[str, Any]:
    runs = {"cheap": found.cheap, "full": found.full, "threadgroups": found.threadgroups}
    return {
        "selector": str(output),
        "points": found.points,
        "tried": found.tried,
        "runs": runs,
        "kernels": [
            {
                "policy": policy,
                "chip": chip,
                "when": choice.when,
                "kernel": choice.recipe.label,
            }
            for (policy, chip), choices in found.selector.choices.items()
            for choice in choices
        ],
        "loss": None
        if lost is None
        else {"targets": lost.targets, "mean": lost.mean, "worst": lost.worst},
    }


def _show(found: "Tuned", output: Path, lost: "Loss | None") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("weights", "chip", "when", "kernel"):
        table.add_column(title, no_wrap=title in ("weights", "chip"))
    for (policy, chip), choices in found.selector.choices.items():
        for choice in choices:
            table.add_row(policy, chip, choice.when, choice.recipe.label)
    show(
        table,
        f"{found.cheap} cheap and {found.full} full runs for {found.tried} sizes on chips; "
        f"the space has {found.points} points",
        f"{output}: the selector",
    )
    if lost is not None:
        policy, chip, m, n, k = lost.where
        show(
            f"against the best of {lost.targets} sizes on chips it loses {lost.mean:.1%}, "
            f"{lost.worst:.1%} at most: {m}x{n}x{k} on {chip}, {policy}"
        )

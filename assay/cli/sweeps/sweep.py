"""`assay sweep`: every kernel of a declared space for every size on every chip."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..crash_trace import signals_as_exits
from ..failures import FAILED, CommandError
from ..options.shared import Json, check_writable
from ..options.sweeps import Scheduler, SpaceFile, Workers
from ..terminal import note, print_json, progress, show, want_json

if TYPE_CHECKING:
    from rich.table import Table

    from ...sweeps import SweepResult

_MOST_SHOWN = 40  # targets; the page has all


def sweep_command(
    space: SpaceFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The folder of the rows; SPACE.sweep when not given.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", help="Where the page goes; index.html in the folder.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Predict all kernels of a declared space, and show which is best where.

    Rows are kept in Parquet as they come: stopped in any way, the same command goes on. A point
    that cannot be has a row with its reason. The page needs no network.

    [bold]Examples[/bold]

      assay sweep decode.toml

      assay sweep decode.toml -o rows --scheduler tcp://10.0.0.1:8786
    """
    want_json(json)
    folder = output or Path(space.name).with_suffix(".sweep")
    if page is not None:
        check_writable("--page", page)
    found = _swept(space, folder, workers, scheduler)
    page = page or folder / "index.html"
    found.save_page(page)
    if len(found.failures) == len(found.rows):
        raise CommandError(
            f"no point has a time; the first: {found.rows[0]['reason']}", code=FAILED
        )
    if json:
        print_json(_document(found, page))
        return
    _show(found, page)


def _swept(space: Path, folder: Path, workers: int | None, scheduler: str | None) -> "SweepResult":
    """Run it; however it ends before its time, say what is kept."""
    from ...sweeps import sweep

    at = {"done": 0, "total": 0}
    with signals_as_exits(), progress() as say:

        def told(done: int, total: int) -> None:
            at.update(done=done, total=total)
            say(f"{done} of {total} points")

        try:
            return sweep(space, folder, workers=workers, scheduler=scheduler, progress=told)
        except BaseException:
            if at["total"]:
                note(
                    f"{at['done']} of {at['total']} rows are kept in {folder}; "
                    "the same command goes on with them"
                )
            raise


def _document(found: "SweepResult", page: Path) -> dict[str, Any]:
    from ...sweeps.compare import best, label_of

    return {
        "table": str(found.table),
        "page": str(page),
        "points": len(found.rows),
        "measured": found.measured,
        "failed": len(found.failures),
        "best": [
            {
                "policy": policy,
                "chip": chip,
                "size": [m, n, k],
                "kernel": label_of(row),
                "seconds": row["seconds"],
            }
            for (policy, chip, m, n, k), row in best(found.rows).items()
        ],
    }


def _show(found: "SweepResult", page: Path) -> None:
    points, failed = len(found.rows), len(found.failures)
    show(_best(found))
    show(
        f"{points} points, {points - found.measured} of them known before, {failed} without a time",
        f"{found.table}: all rows",
        f"{page}: the page",
    )


def _best(found: "SweepResult") -> "Table":
    """The best kernel for each size on each chip."""
    from rich.table import Table

    from ...prediction.numbers import seconds
    from ...sweeps.compare import best, label_of

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("weights", "chip", "m x n x k", "best kernel"):
        table.add_column(title, no_wrap=title != "best kernel")
    table.add_column("time", justify="right", no_wrap=True)
    every = best(found.rows)
    for (policy, chip, m, n, k), row in list(every.items())[:_MOST_SHOWN]:
        table.add_row(policy, chip, f"{m}x{n}x{k}", label_of(row), seconds(row["seconds"]))
    if len(every) > _MOST_SHOWN:
        table.add_row("...", "", "", f"{len(every) - _MOST_SHOWN} more: see the page", "")
    return table

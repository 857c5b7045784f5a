"""Options that `assay sweep` and `assay tune` share."""

from pathlib import Path
from typing import Annotated

import typer

SpaceFile = Annotated[
    Path,
    typer.Argument(
        metavar="SPACE",
        help="A .toml file, or a .py file in which [bold]space[/bold] is the declaration.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "-j",
        help="Processes on this machine; as many as it has cores when not given.",
        min=1,
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Take the workers of a Dask cluster instead, such as tcp://10.0.0.1:8786.",
        show_default=False,
    ),
]

"""Options of how IREE compiles a model."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from assay.compiler.models import CompiledModel
    from assay.compiler.models.compile import Target

NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache", help="Compile the model even if it was compiled before, and keep nothing."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class IreeOptions:
    """For models that IREE compiles: its flags, and whether an earlier result will do."""

    compile_flag: Annotated[
        list[str] | None,
        typer.Option("--compile-flag", help="A further flag for iree-compile.", show_default=False),
    ] = None
    no_cache: NoCache = False

    def compile(
        self,
        path: Path,
        output: Path | None = None,
        *,
        target: "Target" = "metal",
        say: Callable[[str], None] | None = None,
    ) -> "CompiledModel":
        """The module of a model. Raises ModelError."""
        from assay.compiler.models import compile_model

        return compile_model(
            path,
            output,
            target=target,
            flags=self.compile_flag or (),
            progress=say,
            cache=not self.no_cache,
        )

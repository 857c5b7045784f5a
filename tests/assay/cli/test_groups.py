"""Options that are declared as fields of a dataclass."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from assay.cli.options.groups import given_options, grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    width: Annotated[int, typer.Option("--width", "-w", help="How wide.")] = 1
    names: Annotated[list[str] | None, typer.Option("--name")] = None


def application() -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @grouped
    def show(
        file: str, *, sizes: Sizes, last: Annotated[bool, typer.Option("--last")] = False
    ) -> None:
        """Show a file."""
        typer.echo(f"{file} {sizes.width} {sizes.names} {last}")

    return app


def test_a_command_gets_the_options_of_a_group_as_one_parameter() -> None:
    given = ["a.txt", "-w", "3", "--name", "x", "--name", "y", "--last"]
    result = CliRunner().invoke(application(), given)
    assert result.stdout == "a.txt 3 ['x', 'y'] True\n", result.output
    assert CliRunner().invoke(application(), ["a.txt"]).stdout == "a.txt 1 None False\n"


def test_help_shows_options_of_groups_where_the_parameter_stands() -> None:
    text = CliRunner().invoke(application(), ["--help"]).stdout
    assert "Show a file." in text and "How wide." in text
    assert text.index("--width") < text.index("--name") < text.index("--last")


def test_options_that_were_given_are_known_by_their_first_names() -> None:
    assert given_options(Sizes(width=0)) == []
    assert given_options(Sizes(width=2, names=["x"])) == ["--width", "--name"]

"""Records the picture of README from a real run: python docs/images/record.py"""

from pathlib import Path

from rich.console import Console

from assay.cli import demo, terminal


def main() -> None:
    """Runs the demo and writes demo.svg beside this file."""
    console = Console(
        record=True, width=84, force_terminal=True, color_system="truecolor", highlight=False
    )
    terminal.stdout = lambda: console
    console.print("[bold]$ assay demo[/bold]")
    demo.demo_command()
    console.save_svg(str(Path(__file__).with_name("demo.svg")), title="assay")


if __name__ == "__main__":
    main()

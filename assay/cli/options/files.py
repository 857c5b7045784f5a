"""Files that commands are given: one to read has to be there, one to write is none of those."""

from pathlib import Path

from ..failures import USAGE, CommandError


def require_file(file: Path) -> None:
    """Refuse what cannot be read. Raises CommandError."""
    if not file.is_file():
        what = "is a folder; expected a file" if file.is_dir() else "there is no such file"
        raise CommandError(f"{file}: {what}", code=USAGE)


def keep_inputs(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to write over what a command reads. Raises CommandError."""
    if output is None or not output.exists():
        return
    for each in inputs:
        if each is not None and each.exists() and output.samefile(each):
            raise CommandError(
                f"--output {output}: this would write over what is read; give it another name",
                code=USAGE,
            )

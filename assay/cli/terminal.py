"""Where text goes: results on stdout, messages on stderr, JSON when it is asked for."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_state = {"json": False}


def want_json(wanted: bool) -> None:
    """Remembers whether this command was asked for `--json`; errors follow suit."""
    _state["json"] = wanted


def json_wanted() -> bool:
    """Whether results go out as JSON."""
    return _state["json"]


def print_json(value: Any) -> None:
    """One JSON document on stdout; NaN and infinities as text, since JSON has none."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def stdout() -> "Console":
    """The console for results."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 120)


def stderr() -> "Console":
    """The console for messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def show(*renderables: "RenderableType") -> None:
    """Prints tables and text on stdout."""
    console = stdout()
    for renderable in renderables:
        console.print(renderable)


def print_error(message: str) -> None:
    """One message on stderr."""
    from rich.text import Text

    text = Text("error: ", style="bold red")
    text.append(message, style="default")
    stderr().print(text)


def note(message: str) -> None:
    """Something the user should know, on stderr."""
    from rich.text import Text

    text = Text("note: ", style="bold yellow")
    text.append(message, style="default")
    stderr().print(text)


def note_doubts(path: Path, doubts: Iterable[object]) -> None:
    """What a model leaves undefined, on stderr."""
    for doubt in doubts:
        note(f"{path}: {doubt}")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A spinner with changing text while long work is done; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    with stderr().status("") as status:
        yield status.update


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)

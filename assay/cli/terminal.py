"""Where text goes: results on stdout, messages on stderr, JSON when it is asked for."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

FEW = 8
"""Kernels whose result comes soon; of so few no progress is told."""
_QUIET_S = 15.0  # between two lines of progress without a terminal
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


@contextmanager
def counted(done: str) -> "Iterator[Counted]":
    """Tells how many kernels of a file are `done`: "checked", "timed"."""
    with progress() as say:
        yield Counted(say, done)


class Counted:
    """Counts kernels: a terminal shows each, a file gets a line now and then.

    Of few kernels it says nothing: their results come soon.
    """

    def __init__(self, say: Callable[[str], None], done: str) -> None:
        self.say = say
        self._what = done
        self._total = self._done = 0
        self._since = time.monotonic()

    def begin(self, total: int) -> None:
        """A file with so many kernels."""
        self._total, self._done = total, 0

    def state(self) -> str:
        """How far it is."""
        return f"after {self._done} of {self._total} kernels"

    def finished(self, name: str, said: Iterable[str] = ()) -> None:
        """A kernel is done; what is `said` of it stands in lines of its own."""
        self._done += 1
        if self._total < FEW:
            return
        state = f"{self._done}/{self._total}"
        self.say(f"{state} {name}")
        lines = [f"{state} {name}: {each}" for each in said]
        if not lines and not sys.stderr.isatty() and time.monotonic() - self._since > _QUIET_S:
            lines = [f"{state} kernels {self._what}"]
        if lines:
            self._since = time.monotonic()
            print("\n".join(lines), file=sys.stderr, flush=True)


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

"""A run that ends early leaves its timeline up to there: by an error, Ctrl-C, or a signal."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .terminal import note

_SIGNALS = ("SIGTERM", "SIGHUP")  # what ends a process in order; Windows has no SIGHUP


@contextmanager
def kept_timeline(path: Path | None, save: Callable[[Path], None]) -> Iterator[None]:
    """If what is inside ends early, `save(path)` is called; what ended it goes on its way.

    Nothing is done if `path` is None.
    """
    if path is None:
        yield
        return
    with signals_as_exits():
        try:
            yield
        except BaseException:
            save_partial(path, save)
            raise


def stopped_by(end: BaseException) -> str:
    """What stopped a command, for people, by the KeyboardInterrupt or SystemExit."""
    return f"stopped by {'Ctrl-C' if isinstance(end, KeyboardInterrupt) else 'a signal'}"


def save_partial(path: Path, save: Callable[[Path], None]) -> None:
    """Save the timeline of a run that failed; if that fails too, the run's error is still told."""
    try:
        save(path)
    except Exception as error:
        note(f"{path} could not be written: {error}")
    else:
        note(f"{path} shows the run up to its end")


@contextmanager
def signals_as_exits() -> Iterator[list[int]]:
    """Signals to end, which otherwise do so at once, leave by way of SystemExit.

    The list has those that came, for who runs programs that may catch that.
    """
    came: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise SystemExit(128 + number)

    # Only the main thread may say what signals do.
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:  # what is ignored (nohup) stays ignored
            signal.signal(number, leave)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

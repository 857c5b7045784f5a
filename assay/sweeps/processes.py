"""Points measured by processes on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from .batches import Batch, batches
from .point import Point
from .rows import Row, lost

Measured = tuple[Point, Row]
_WORKER: Final = "from assay.sweeps.worker import main; main()"


class Processes:
    """As many processes as are asked for; they end with this one, whatever ends it."""

    def __init__(self, count: int) -> None:
        self._count = count

    def measure(self, points: Sequence[Point], waves: int) -> Iterator[list[Measured]]:
        """Rows as they come, in no order."""
        waiting = deque(batches(points, self._count))
        answers: queue.Queue[tuple[_Process, Row | None]] = queue.Queue()
        working = [_Process(answers, waves) for _ in range(min(self._count, len(waiting)))]
        try:
            for each in working:
                each.take(waiting.popleft())
            while working:
                process, row = answers.get()
                if process not in working:
                    continue  # it was stopped
                point = process.current
                if row is None:
                    working.remove(process)
                    process.stop()
                    if point is not None:
                        yield [(point, process.lost_row())]
                    rest = process.rest()
                    if rest:
                        waiting.appendleft(rest)
                    if waiting:
                        working.append(_Process(answers, waves))
                        working[-1].take(waiting.popleft())
                    continue
                assert point is not None
                if not process.go_on():
                    if waiting:
                        process.take(waiting.popleft())
                    else:
                        working.remove(process)
                        process.stop()
                yield [(point, row)]
        finally:
            for each in working:
                each.stop()


class _Process:
    """One process with its batch; it is told one point at a time."""

    def __init__(self, answers: queue.Queue[tuple[_Process, Row | None]], waves: int) -> None:
        environment = dict(os.environ)
        environment["ASSAY_WORKERS"] = "1"
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is this process's alone, which stops the others
        )
        self._waves = waves
        self._batch: deque[Point] = deque()
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    @property
    def current(self) -> Point | None:
        """The point that it is measuring."""
        return self._batch[0] if self._batch else None

    def take(self, batch: Batch) -> None:
        """Begin with a batch."""
        self._batch.extend(batch)
        self._tell()

    def go_on(self) -> bool:
        """Leave the current point behind; whether there is a next one."""
        self._batch.popleft()
        if self._batch:
            self._tell()
        return bool(self._batch)

    def rest(self) -> Batch:
        """What is left of its batch behind the current point."""
        return tuple(self._batch)[1:]

    def lost_row(self) -> Row:
        """The row of a point with which the process ended."""
        code = self._process.returncode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        return lost(f"its process ended {how}")

    def stop(self) -> None:
        """End it at once, unless it has ended by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._batch and self._process.poll() is None:
                self._process.wait(timeout=0.2)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # what it did not read any more
            self._process.stdin.close()

    def _tell(self) -> None:
        task: dict[str, Any] = {"point": self._batch[0].as_json(), "waves": self._waves}
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, which the listener tells
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()

    def _listen(self, answers: queue.Queue[tuple[_Process, Row | None]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                # A line that was cut belongs to a process that is gone.
                if line.endswith("\n"):
                    answers.put((self, json.loads(line)))
        answers.put((self, None))

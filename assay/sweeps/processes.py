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
    """As many processes as are asked for, until `close`; they end with this one in any case."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._answers: _Answers = queue.Queue()
        self._idle: list[_Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._idle:
            each.stop()
        self._idle.clear()

    def measure(self, points: Sequence[Point], waves: int) -> Iterator[list[Measured]]:
        """Rows as they come, in no order."""
        waiting = deque(batches(points, self._count))
        working: list[_Process] = []
        try:
            while waiting or working:
                while waiting and len(working) < self._count:
                    working.append(self._started())
                    working[-1].take(waiting.popleft(), waves)
                process, row = self._answers.get()
                if process not in working:
                    continue  # it was idle, or stopped
                point = process.current
                if row is None:
                    working.remove(process)
                    process.stop()
                    row = process.lost_row()
                    if rest := process.rest():
                        waiting.appendleft(rest)
                elif not process.go_on():
                    working.remove(process)
                    self._idle.append(process)
                yield [(point, row)]
        finally:
            for each in working:
                each.stop()

    def _started(self) -> _Process:
        """One without work."""
        while self._idle:
            process = self._idle.pop()
            if process.is_there:
                return process
        return _Process(self._answers)


class _Process:
    """One process with its batch; it is told one point at a time."""

    def __init__(self, answers: _Answers) -> None:
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
        self._waves = 0
        self._batch: deque[Point] = deque()
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    @property
    def is_there(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def current(self) -> Point:
        """The point that it is measuring."""
        return self._batch[0]

    def take(self, batch: Batch, waves: int) -> None:
        """Begin with a batch."""
        self._waves = waves
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

    def _listen(self, answers: _Answers) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                # A line that was cut belongs to a process that is gone.
                if line.endswith("\n"):
                    answers.put((self, json.loads(line)))
        answers.put((self, None))


_Answers = queue.Queue[tuple[_Process, Row | None]]

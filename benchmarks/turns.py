"""Peers in processes of their own, measured by turns with us.

Processors change their speed within seconds, with what else runs on the machine and with what their
widest instructions cost: what is measured in one stretch and compared with what was measured in the
next is a measure of that, too. So each round measures all, and a share is that of a round.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Timer

from .measure import median_seconds

Measure = Callable[[int], float]
"""The median seconds of so many runs, after one that is not counted."""
Rounds = dict[str, list[float]]
_MOST = 120.0  # seconds that one answer may take: a peer that knows no such processor may hang


@contextmanager
def asked(
    arguments: Sequence[str], environment: Mapping[str, str], *, trial: str, pause: float = 0.0
) -> Iterator[Callable[[str], float] | None]:
    """A process of Python with such arguments that answers each line with seconds, as JSON.

    None if it does not answer the first one, `trial`. After each answer the process may go to
    sleep for `pause` seconds.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    question, answer = process.stdin, process.stdout

    def ask(line: str) -> float:
        late = Timer(_MOST, process.kill)  # whose answer then is none
        late.start()
        try:
            question.write(f"{line}\n")
            question.flush()
            seconds: float = json.loads(answer.readline())["seconds"]
        finally:
            late.cancel()
        time.sleep(pause)
        return seconds

    try:
        ask(trial)
    except (OSError, ValueError):
        print(f"{' '.join(arguments)}: does not run here", file=sys.stderr)
        yield None
    else:
        yield ask
    finally:
        process.kill()
        process.communicate()


def answer_each(measure: Callable[[str], float]) -> None:
    """Be such a process: answer each line that comes with the seconds that it is measured to."""
    for line in sys.stdin:
        print(json.dumps({"seconds": measure(line.strip())}), flush=True)


def by_turns(
    ours: Mapping[str, Callable[[], object]],
    peers: Mapping[str, Measure],
    *,
    rounds: int,
    repetitions: int,
) -> Rounds:
    """Seconds of each in each round: the median of some runs, after one that is not counted."""
    found: Rounds = {who: [] for who in (*ours, *peers)}
    for _ in range(rounds):
        for who, run in ours.items():
            found[who].append(median_seconds(run, repetitions))
        for who, measure in peers.items():
            found[who].append(measure(repetitions))
    return found


def fastest(seconds: Rounds, peers: Sequence[str]) -> str:
    """The peer whose median is the least."""
    return min(peers, key=lambda each: statistics.median(seconds[each]))


def shares(seconds: Rounds, who: str, peers: Sequence[str]) -> list[float]:
    """Which part of the speed of the fastest peer somebody has, round by round."""
    best = fastest(seconds, peers)
    return [of / mine for of, mine in zip(seconds[best], seconds[who], strict=True)]

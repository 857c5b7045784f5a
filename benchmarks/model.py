"""Networks of a size that people run, f32, through IREE: against IREE's own CPU backend, by turns.

Both run on the same number of threads, each in a process of its own; times are by the clock.
"""

from __future__ import annotations

import math
import pickle
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import assay

from .measure import Row, median_seconds
from .profile.models import Subject, prepared
from .profile.networks import BARS
from .turns import answer_each, asked, by_turns, shares

_TITLES = {
    "mobilenet_v2": "MobileNetV2 224x224",
    "resnet18": "ResNet-18 224x224",
    "transformer": "transformer block, 128 x 768",
}
_OURS, _THEIRS = "assay, metal", "IREE, llvm-cpu"
_TOLERANCE = 1e-3  # relative to the largest result
_ROUND = 0.2  # seconds that the runs of a round take at least
_MOST_RUNS = 40


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Compile each for both, run both in as many rounds as `repetitions` says, compare results."""
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        found = []
        for network in BARS:
            folder = Path(name) / network
            folder.mkdir()
            found += _rows_of(prepared(network, folder), folder, threads, repetitions)
        return found


def _rows_of(subject: Subject, folder: Path, threads: int, rounds: int) -> list[Row]:
    handed = folder / "subject.pickle"
    handed.write_bytes(pickle.dumps(subject))
    environment = {"ASSAY_WORKERS": str(threads)}
    with ExitStack() as processes:
        measures = {}
        for who in (_OURS, _THEIRS):
            arguments = ["-m", "benchmarks.model", str(handed), who, str(threads)]
            ask = processes.enter_context(asked(arguments, environment, trial="1"))
            if ask is None:
                raise SystemExit(f"{subject.name}: {who} does not run; the reason is above")
            runs = str(max(1, min(math.ceil(_ROUND / ask("1")), _MOST_RUNS)))
            measures[who] = lambda _, ask=ask, runs=runs: ask(runs)
        seconds = by_turns({}, measures, rounds=rounds, repetitions=1)
    _compare(subject.name, *(np.load(_result(handed, who)) for who in (_OURS, _THEIRS)))
    ratios = [1 / share for share in shares(seconds, _OURS, [_THEIRS])]
    ratio, bar = statistics.median(ratios), BARS[subject.name]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return [
        Row(
            what=f"{_TITLES[subject.name]}, f32",
            who=_OURS,
            seconds=statistics.median(seconds[_OURS]),
            ratio=f"{ratio:.2f} x llvm-cpu's time ({spread})",
            bar=f"<= {bar:g} x",
            passed=ratio <= bar,
        ),
        Row(what="", who=_THEIRS, seconds=statistics.median(seconds[_THEIRS])),
    ]


def _result(handed: Path, who: str) -> Path:
    return handed.with_name(f"{who}.npy")


def _compare(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= _TOLERANCE:
        raise SystemExit(f"{name}: results differ by {error:.3g} of the largest value")


def main() -> None:
    """`benchmarks.model SUBJECT WHO THREADS`: answers each number with the seconds of a run."""
    handed, who, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    subject: Subject = pickle.loads(handed.read_bytes())
    run = _ours(subject) if who == _OURS else _theirs(subject, threads)
    np.save(_result(handed, who), run())
    answer_each(lambda line: median_seconds(run, int(line), warm_up=0))


def _ours(subject: Subject) -> Callable[[], Any]:
    function = assay.load(subject.metal)[subject.function]

    def run() -> Any:
        result = function.invoke(subject.arguments)
        return result[0] if isinstance(result, list | tuple) else result

    return run


def _theirs(subject: Subject, threads: int) -> Callable[[], Any]:
    import iree.runtime as runtime

    runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
    config = runtime.Config("local-task")
    module = runtime.VmModule.copy_buffer(config.vm_instance, subject.cpu.read_bytes())
    context = runtime.SystemContext(vm_modules=[module], config=config)
    function = context.modules[module.name][subject.function]
    return lambda: function(*subject.arguments).to_host()


if __name__ == "__main__":
    main()

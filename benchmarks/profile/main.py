"""`python -m benchmarks profile [MODEL ...] [--zoo] [--top N]`: where models' time goes.

Each model runs on one thread on the emulated device, and in a process of its own on IREE's CPU
backend; times are processor times, medians of some calls.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import assay

from .dispatches import Dispatches, elements, timed, totals, use_of
from .models import Subject, names, prepared
from .networks import BARS

_LEAST_SECONDS = 0.4
_FAR = 10
"""Times `llvm-cpu`'s time above which a model's row says why."""
_WHY = f"what is above {_FAR} times"
_SUMMARY = ("model", "call", "of it kernels", "dispatches", "llvm-cpu", "ratio", "bar", _WHY)


def main(arguments: list[str]) -> int:
    """Profile models; 1 if one misses its bar, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks profile", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--zoo", action="store_true", help="the models of the tests too")
    parser.add_argument("--top", type=int, default=12, help="dispatches to show of each")
    options = parser.parse_args(arguments)
    known = names(zoo=True)
    unknown = [name for name in options.models if name not in known]
    if unknown:
        parser.error(f"no model is called {unknown[0]!r}; there are {', '.join(known)}")
    console, missed = Console(width=150), 0
    summary = Table(title="Models, one thread, processor time")
    for column in _SUMMARY:
        summary.add_column(column, justify="left" if column in ("model", _WHY) else "right")
    # One device serves all models, and keeps what runs its kernels.
    with tempfile.TemporaryDirectory(prefix="assay-profile-") as name, timed() as found:
        for model in options.models or names(zoo=options.zoo):
            found.clear()
            folder = Path(name) / model  # models of two names may be built in files of one
            folder.mkdir()
            subject = prepared(model, folder)
            ours, calls = _of_ours(subject, found)
            theirs = _of_peer(subject, folder)
            kernels = sum(totals(found, calls).values())
            bar = BARS.get(model)
            missed |= bar is not None and ours > bar * theirs
            if options.top:
                console.print(_of_dispatches(model, found, calls, options.top))
            print(f"{model}: {ours / theirs:.2f} times llvm-cpu's time", file=sys.stderr)
            summary.add_row(
                model,
                _milliseconds(ours),
                _milliseconds(kernels),
                str(sum(len(each.seconds) for each in found.values()) // calls),
                f"{theirs * 1e3:.3f}",
                f"{ours / theirs:.2f}",
                "" if bar is None else f"<= {bar:g}",
                reason(ours, kernels, theirs),
            )
    console.print(summary)
    return int(missed)


def reason(ours: float, kernels: float, theirs: float) -> str:
    """What of a call alone takes more than `_FAR` times as long as the peer; all in seconds."""
    parts = {"host program": ours - kernels, "kernels": kernels}
    alone = [name for name, seconds in parts.items() if seconds > _FAR * theirs]
    return ", ".join(alone) or ("both" if ours > _FAR * theirs else "")


def median_of_calls(call: Callable[[], object]) -> tuple[float, int]:
    """(median processor time of a call, calls made)."""
    taken: list[float] = []
    while sum(taken) < _LEAST_SECONDS or len(taken) < 5:
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return statistics.median(taken), len(taken)


def _of_ours(subject: Subject, found: dict[str, Dispatches]) -> tuple[float, int]:
    """Seconds of a call on the emulated device, and how many calls the dispatches are of."""
    module = assay.load(subject.metal, parameters=subject.parameters)
    run = module[subject.function].invoke
    run(subject.arguments)  # compiles
    found.clear()
    return median_of_calls(lambda: run(subject.arguments))


def _of_dispatches(model: str, found: dict[str, Dispatches], calls: int, top: int) -> Table:
    table = Table(title=f"{model}: its kernels")
    for column in ("kernel", "ms", "times", "threads", "groups", "lanes", "ns/element", "accesses"):
        table.add_column(column, justify="left" if column in ("kernel", "accesses") else "right")
    for name, seconds in list(totals(found, calls).items())[:top]:
        each = found[name]
        use, times = use_of(each.executable), len(each.seconds) // calls
        work = elements(name) * times
        table.add_row(
            name.split("_dispatch_", 1)[-1],
            _milliseconds(seconds),
            str(times),
            "x".join(map(str, each.executable.shape.size)),
            "x".join(map(str, each.threadgroups)),
            f"{use.lanes} x {use.packs}" if use.packs > 1 else str(use.lanes),
            f"{seconds / work * 1e9:.3f}" if work else "",
            ", ".join(f"{count} {way}" for way, count in sorted(use.ways.items())),
        )
    return table


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


def _of_peer(subject: Subject, folder: Path) -> float:
    """Seconds of a call of IREE's own build, in a process of its own."""
    handed = folder / "peer.pickle"
    handed.write_bytes(pickle.dumps(subject))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.profile.main", str(handed)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def _peer(subject: Subject) -> float:
    import iree.runtime as runtime

    config = runtime.Config("local-sync")
    modules: list[Any] = []
    if subject.parameters:
        providers = []
        for scope, path in subject.parameters.items():
            provider = runtime.ParameterIndex()
            provider.load(str(path))
            providers.append(provider.create_provider(scope=scope))
        modules.append(runtime.create_io_parameters_module(config.vm_instance, *providers))
    module = runtime.VmModule.copy_buffer(config.vm_instance, subject.cpu.read_bytes())
    context = runtime.SystemContext(vm_modules=[*modules, module], config=config)
    function = context.modules[module.name][subject.function]

    def call() -> None:
        results = function(*subject.arguments)
        for each in results if isinstance(results, tuple) else (results,):
            if hasattr(each, "to_host"):
                each.to_host()

    call()
    return median_of_calls(call)[0]


if __name__ == "__main__":
    print(json.dumps(_peer(pickle.loads(Path(sys.argv[1]).read_bytes()))))

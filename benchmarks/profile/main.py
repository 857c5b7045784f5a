"""`python -m benchmarks profile [MODEL ...] [--zoo] [--top N]`: where models' time goes.

Each model runs on one thread on the emulated device, and in a process of its own on IREE's CPU
backend, by turns. Times are processor times, medians of rounds; a ratio is the median of theirs.
With `--before FOLDER` each runs by turns with the Assay that is checked out there instead.
"""

from __future__ import annotations

import argparse
import functools
import pickle
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import assay

from ..turns import Rounds, answer_each, asked, by_turns, shares
from .before import compare
from .calls import calls_for, median_of_calls
from .dispatches import Dispatches, Use, elements, timed, totals, use_of
from .models import Subject, names, prepared, without_peer
from .networks import BARS

_ROUNDS = 7
_OURS, _THEIRS = "ours", "llvm-cpu"
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
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="an earlier Assay")
    options = parser.parse_args(arguments)
    known = names(zoo=True)
    unknown = [name for name in options.models if name not in known]
    if unknown and unknown[0] in without_peer():
        parser.error(f"{unknown[0]} is compared with NumPy: IREE does not link it for the CPU")
    if unknown:
        parser.error(f"no model is called {unknown[0]!r}; there are {', '.join(known)}")
    chosen = options.models or names(zoo=options.zoo)
    if options.before is not None:
        if not (options.before / "assay").is_dir():
            parser.error(f"{options.before} has no folder 'assay'")
        return compare(chosen, options.before)
    console, missed = Console(width=150), 0
    summary = Table(title="Models, one thread, processor time")
    for column in _SUMMARY:
        summary.add_column(column, justify="left" if column in ("model", _WHY) else "right")
    # One device serves all models, and keeps what runs its kernels.
    with tempfile.TemporaryDirectory(prefix="assay-profile-") as name, timed() as found:
        for model in chosen:
            found.clear()
            folder = Path(name) / model  # models of two names may be built in files of one
            folder.mkdir()
            subject = prepared(model, folder)
            rounds, calls = _measured(subject, folder, found)
            ours, theirs = (statistics.median(rounds[who]) for who in (_OURS, _THEIRS))
            ratio = statistics.median(1 / share for share in shares(rounds, _OURS, [_THEIRS]))
            kernels = sum(totals(found, calls).values())
            bar = BARS.get(model)
            missed |= bar is not None and ratio > bar
            if options.top:
                console.print(_of_dispatches(model, found, calls, options.top))
            print(f"{model}: {ratio:.2f} times llvm-cpu's time", file=sys.stderr)
            summary.add_row(
                model,
                _milliseconds(ours),
                _milliseconds(kernels),
                str(sum(len(each.seconds) for each in found.values()) // calls),
                f"{theirs * 1e3:.3f}",
                f"{ratio:.2f}",
                "" if bar is None else f"<= {bar:g}",
                reason(ours, kernels, theirs),
            )
    console.print(summary)
    if options.zoo:
        print(f"left out, as IREE does not link them for the CPU: {', '.join(without_peer())}")
    return int(missed)


def reason(ours: float, kernels: float, theirs: float) -> str:
    """What of a call alone takes more than `_FAR` times as long as the peer; all in seconds."""
    parts = {"host program": ours - kernels, "kernels": kernels}
    alone = [name for name, seconds in parts.items() if seconds > _FAR * theirs]
    return ", ".join(alone) or ("both" if ours > _FAR * theirs else "")


def _measured(subject: Subject, folder: Path, found: dict[str, Dispatches]) -> tuple[Rounds, int]:
    """Seconds of our calls and of the peer's in each round; how many calls dispatches are of."""
    module = assay.load(subject.metal, parameters=subject.parameters)
    run = functools.partial(module[subject.function].invoke, subject.arguments)
    run()  # compiles
    handed = folder / "peer.pickle"
    handed.write_bytes(pickle.dumps(subject))
    with asked(["-m", "benchmarks.profile.main", str(handed)], {}, trial="1") as ask:
        if ask is None:
            raise SystemExit(f"{subject.name}: IREE's llvm-cpu does not run; the reason is above")
        mine, its = calls_for(median_of_calls(run, 1)), calls_for(ask("1"))
        found.clear()
        measures = {
            _OURS: lambda _: median_of_calls(run, mine),
            _THEIRS: lambda _: ask(str(its)),
        }
        return by_turns({}, measures, rounds=_ROUNDS, repetitions=1), _ROUNDS * mine


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
            lanes_of(use),
            f"{seconds / work * 1e9:.3f}" if work else "",
            ", ".join(f"{count} {way}" for way, count in sorted(use.ways.items())),
        )
    return table


def lanes_of(use: Use) -> str:
    """The lanes that run: of several threadgroups, or all since they see each other."""
    if use.packs > 1:
        return f"{use.lanes} x {use.packs}"
    return f"{use.lanes}, across" if use.across else str(use.lanes)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


def _answer(subject: Subject) -> None:
    """Tell for each number that is asked for what so many calls of IREE's own build take."""
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
    answer_each(lambda line: median_of_calls(call, int(line)))


if __name__ == "__main__":
    _answer(pickle.loads(Path(sys.argv[1]).read_bytes()))

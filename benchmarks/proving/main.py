"""`python -m benchmarks prove --sources FOLDER --into FILE`: public kernels proved and counted.

The folder holds the projects by name (`mlx`, `ggml`, `candle`, `metal-flash-attention`), each as
its repository has it. With `--models`, the kernels that IREE generates for the zoo of models are
proved, which need no sources. A run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from .limited import done
from .models import PROJECT, model_tasks, proved_kernels
from .page import main as page
from .proofs import QUESTIONS, RACES, Task, proved
from .rows import Row, row_of, rows_of_model, store, stored
from .units import PROJECTS, units_of

_SECONDS = 60.0
_KERNELS = 10  # of a model, for whose time its process may run


def main(arguments: Sequence[str]) -> int:
    """Prove and count, or with `--page` store what was counted and write its page."""
    if "--page" in arguments:
        return page(arguments)
    parser = argparse.ArgumentParser(prog="python -m benchmarks prove", description=__doc__)
    parser.add_argument("--sources", type=Path, help="a folder of projects")
    parser.add_argument("--models", action="store_true", help="IREE's kernels")
    parser.add_argument("--into", type=Path, required=True, help="lines of results, kept")
    parser.add_argument("--project", action="append", help="these alone")
    parser.add_argument("--kernel", action="append", help="these families or kernels alone")
    parser.add_argument("--sample", type=int, default=0, help="so many of each project")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=_SECONDS, help="of the processor, a kernel")
    parser.add_argument("--races", action="store_true", help="barriers and races alone")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of this run")
    options = parser.parse_args(arguments)
    rows = _of_models(options) if options.models else _of_sources(options)
    verdicts: Counter[str] = Counter()
    for row in rows:
        store(row, options.into)
        verdicts[row.verdict] += 1
        print(f"{verdicts.total()}: {row}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    return 0


def _of_sources(options: argparse.Namespace) -> Iterator[Row]:
    known = {(row.project, row.kernel) for row in stored(options.into)}
    waiting = [
        task for task in _tasks(options) if (task.unit.project, task.unit.kernel) not in known
    ]
    found = done(
        waiting, proved, limit=options.limit, workers=options.workers, seconds=options.seconds
    )
    for task, parts, problem in found:
        yield row_of(task.unit, parts, problem)


def _tasks(options: argparse.Namespace) -> list[Task]:
    """The units that are meant, in an order that the seed decides."""
    tasks: list[Task] = []
    for project in PROJECTS:
        root = options.sources / project.name
        if not root.exists() or (options.project and project.name not in options.project):
            continue
        units, refused = units_of(project, root, options.seed)
        for file, problem in refused.items():
            print(f"{project.name}: {file}: {problem}", flush=True)
        print(f"{project.name}: {len(units)} units", flush=True)
        random.Random(options.seed).shuffle(units)
        wanted = set(options.kernel or ())
        chosen = [each for each in units if not wanted or {each.kernel, each.family} & wanted]
        chosen = chosen[: options.sample] if options.sample else chosen
        questions = RACES if options.races else QUESTIONS
        tasks += [Task(unit=each, root=root, questions=questions) for each in chosen]
    random.Random(options.seed).shuffle(tasks)
    return tasks


def _of_models(options: argparse.Namespace) -> Iterator[Row]:
    known = {row.file for row in stored(options.into) if row.project == PROJECT}
    waiting = [task for task in model_tasks() if task.name not in known]
    random.Random(options.seed).shuffle(waiting)
    waiting = waiting[: options.sample] if options.sample else waiting
    found = done(
        waiting,
        proved_kernels,
        limit=_KERNELS * options.limit,
        workers=options.workers,
        seconds=options.seconds,
    )
    for task, parts, problem in found:
        yield from rows_of_model(task.name, parts, problem, options.limit)

"""What the first compile of a kernel is spent on: processor time by stage, all processes counted.

`python -m benchmarks compile` runs this in fresh processes and prints its stages.
"""

from __future__ import annotations

import functools
import gc
import json
import resource
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

STAGES: dict[str, tuple[tuple[str, str], ...]] = {
    "precompiled headers": (("assay.compiler.msl.front.precompiled", "_build"),),
    "clang": (("assay.compiler.msl.front.clang", "_run"),),
    "rewriting": (("assay.compiler.msl.rewrite.rewrite", "rewrite"),),
    "import": (("assay.sim.simt.run.generation", "import_kernel"),),
    "emission": (("assay.sim.simt.run.generation", "Vectoriser"),),
    "LLVM": (("assay.sim.simt.run.generation", "compile_object"),),
    "loading": (("assay.sim.simt.run.program", "Executable"),),
}
"""Stages by the functions that they are, with module and name; the innermost one counts.

Emission is the class whose construction analyses and whose `run` writes; both are counted.
"""


def processor_seconds() -> float:
    """What this process and those it waited for have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Stopwatch:
    """Processor time by stage, without that of stages inside."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._inside: list[float] = []

    def install(self) -> None:
        """Have the functions of all stages measured from now on."""
        for stage, places in STAGES.items():
            for module, name in places:
                where = import_module(module)
                what = getattr(where, name)
                if stage == "emission":
                    self._wrap(what, "__init__", stage)
                    self._wrap(what, "run", stage)
                else:
                    self._wrap(where, name, stage)

    def _wrap(self, where: Any, name: str, stage: str) -> None:
        function: Callable[..., Any] = getattr(where, name)

        @functools.wraps(function)
        def measured(*arguments: Any, **named: Any) -> Any:
            start = processor_seconds()
            self._inside.append(0.0)
            try:
                return function(*arguments, **named)
            finally:
                spent = processor_seconds() - start
                self.seconds[stage] += spent - self._inside.pop()
                if self._inside:
                    self._inside[-1] += spent

        setattr(where, name, measured)


def main() -> None:
    """Compile the kernel of the benchmark once, source to machine code; print seconds as JSON."""
    from assay.compiler.msl import compile_library

    from .compile import LOADED_LATE, source

    for module in LOADED_LATE:
        import_module(module)
    watch = Stopwatch()
    watch.install()
    text = source()
    gc.collect()  # which would look through what importing left, here or there by chance
    start, processor = time.perf_counter(), processor_seconds()
    compile_library(text).function("hundred_lines").program().specialise((64, 1, 1))
    wall, spent = time.perf_counter() - start, processor_seconds() - processor
    print(json.dumps({"seconds": wall, "processor": spent, "stages": watch.seconds}))


if __name__ == "__main__":
    main()

"""`assay time FILE.metal`: how long a kernel takes, or each kernel of a file."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .crash_trace import signals_as_exits, stopped_by
from .failures import USAGE, CommandError
from .options.common import KernelOptions
from .options.time import GridOptions, TimeOptions

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip

    from ..prediction import TimeResult
    from ..prediction.sources import SourceRun
    from .terminal import Counted


@dataclass(slots=True)
class KernelTimes:
    """What was timed of a file.

    Attributes:
        is_one: whether it is one kernel that was asked for.
        kernels: those that were timed, each on its chips.
        failed: why others cannot be timed.
        end: Ctrl-C or a signal, before all was done.
        state: how far it was then.
    """

    is_one: bool
    kernels: "list[list[TimeResult]]" = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    end: KeyboardInterrupt | SystemExit | None = None
    state: str = ""


def kernel_times(
    file: Path,
    functions: Sequence[str],
    chip: str,
    sizes: GridOptions,
    kernel: KernelOptions,
    how: TimeOptions,
) -> KernelTimes:
    """The kernels that are named, or all of a file, on each chip, until somebody stops it."""
    from ..launches.setups import setups_in_file
    from ..launches.source import chosen_kernels
    from ..prediction.sources import kernel_run, time_kernel_run, timed_library
    from .terminal import counted

    with usage_errors(), counted("timed") as told, signals_as_exits():
        told.say(f"reading {file}")
        chips = chips_of(chip, how.compare)
        library = timed_library(file, kernel.macros(), kernel.include or [])
        names = chosen_kernels(library, functions)
        if len(names) > 1 and how.plot is not None:
            raise CommandError("--plot draws one kernel; say which with -f", code=USAGE)
        prepare = partial(
            kernel_run,
            library,
            threadgroups=sizes_given("--grid", sizes.grid),
            threads=sizes_given("--threads", sizes.threads),
            threadgroup=sizes_given("--threadgroup", sizes.threadgroup),
            setups=setups_in_file(kernel.args) if kernel.args is not None else None,
        )
        time = partial(
            time_kernel_run, warm=not how.cold, timeline=how.trace is not None, say=told.say
        )
        done = KernelTimes(is_one=len(names) == 1)
        told.begin(len(names))
        try:
            for name in names:
                _time_kernel(name, prepare, time, chips, done, told)
        except (KeyboardInterrupt, SystemExit) as end:
            done.end, done.state = end, f"{stopped_by(end)} {told.state()}"
        return done


def _time_kernel(
    name: str,
    prepare: "Callable[[str], SourceRun]",
    time: "Callable[..., TimeResult]",
    chips: "Sequence[Chip]",
    done: KernelTimes,
    told: "Counted",
) -> None:
    """Time a kernel on all chips. Of several kernels, those that cannot be timed are noted."""
    from assay.compiler.msl import CompileError

    from ..prediction import TimeInputError

    results: list[TimeResult] = []
    try:
        run = prepare(name)
        for each in chips:
            results.append(time(run, each, both=done.is_one and each is chips[0]))
            if len(results) == 1:
                done.kernels.append(results)
    except (TimeInputError, CompileError) as error:
        if done.is_one:
            raise
        done.failed.append(str(error))
        told.finished(name, [f"not timed: {done.failed[-1].splitlines()[0]}"])
    else:
        told.finished(name)


def chips_of(first: str, others: str | None) -> "list[Chip]":
    """The chips to predict for, each once. Raises SpecError."""
    from assay.hw.apple.facts.chips import chip

    further = [name.strip() for name in (others or "").split(",") if name.strip()]
    if others is not None and not further:
        raise CommandError(f"--compare {others}: expected chips, such as m1,m4-max", code=USAGE)
    return [chip(name) for name in dict.fromkeys([first, *further])]


@contextmanager
def usage_errors() -> Iterator[None]:
    """What is wrong with what was given is the user's to put right."""
    from assay.compiler.msl import CompileError
    from assay.hw.facts import SpecError

    from ..launches.errors import LaunchInputError
    from ..prediction import TimeInputError

    try:
        yield
    except (TimeInputError, LaunchInputError, SpecError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None


def sizes_given(option: str, text: str | None) -> list[int] | None:
    """`64,64` as numbers."""
    if text is None:
        return None
    words = [word.strip() for word in text.replace("x", ",").split(",")]
    if not 1 <= len(words) <= 3 or not all(word.isdigit() and int(word) > 0 for word in words):
        raise CommandError(
            f"{option} {text}: expected one to three positive numbers, such as 64,64,1", code=USAGE
        )
    return [int(word) for word in words]

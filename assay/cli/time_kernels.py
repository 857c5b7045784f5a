"""`assay time FILE.metal`: how long a kernel takes, or each kernel of a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .failures import USAGE, CommandError
from .options.common import KernelOptions
from .options.time import GridOptions, TimeOptions

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip

    from ..prediction import TimeResult


def kernel_times(
    file: Path,
    functions: Sequence[str],
    chip: str,
    sizes: GridOptions,
    kernel: KernelOptions,
    how: TimeOptions,
) -> "tuple[list[list[TimeResult]], list[str]]":
    """The kernels that are named, or all of a file, on each chip; why others cannot be timed."""
    from assay.compiler.msl import CompileError

    from ..launches.setups import setups_in_file
    from ..launches.source import chosen_kernels
    from ..prediction import TimeInputError
    from ..prediction.sources import kernel_run, time_kernel_run, timed_library
    from .terminal import counted

    with usage_errors(), counted("timed") as told:
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
        if len(names) == 1:
            run = prepare(names[0])
            return [[time(run, each, both=each is chips[0]) for each in chips]], []
        found, failed = [], []
        told.begin(len(names))
        for name in names:
            try:
                found.append([time(prepare(name), each) for each in chips])
            except (TimeInputError, CompileError) as error:
                failed.append(str(error))
                told.finished(name, [f"not timed: {failed[-1].splitlines()[0]}"])
            else:
                told.finished(name)
        return found, failed


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

"""What `assay time` prints: one kernel or module in detail, several kernels in a table."""

from typing import TYPE_CHECKING

from .failures import CommandError
from .options.time import TimeOptions

if TYPE_CHECKING:
    from ..prediction import TimeResult

_LISTED = 4  # dispatches whose lines are shown: those that take longest


def write_results(results: "list[TimeResult]", how: TimeOptions, *, json: bool) -> None:
    """Print the results; the first one has a timeline and a picture."""
    from ..prediction.comparison import comparison, comparison_json
    from ..prediction.listing import listing
    from .terminal import print_json, show

    first = results[0]
    if json:
        print_json(comparison_json(results) if len(results) > 1 else first.to_json())
    else:
        show(first)
        for dispatch, _ in first.unique()[:_LISTED] if how.lines else ():
            show(listing(dispatch))
        if len(results) > 1:
            show("", comparison(results))
    if how.trace is not None:
        first.save_trace(how.trace)
    if how.plot is not None:
        first.plot().save(how.plot)


def write_kernels(kernels: "list[list[TimeResult]]", how: TimeOptions, *, json: bool) -> None:
    """Print several kernels on several chips; their timelines on the first are one page."""
    from ..prediction.kernel_table import kernel_table, kernels_json
    from ..prediction.listing import listing
    from .terminal import print_json, show

    if json:
        print_json(kernels_json(kernels))
    else:
        show(kernel_table(kernels))
        for results in kernels if how.lines else ():
            show(listing(results[0].dispatches[0]))
    if how.trace is not None and kernels:
        from assay.traces.files import write_trace
        from assay.traces.record.merge import merged

        first = [results[0] for results in kernels]
        names = [each.dispatches[0].kernel for each in first]
        write_trace(merged([each.trace() for each in first], names), how.trace)


def tell_stopped(state: str, failed: list[str]) -> None:
    """Say how far it was when somebody stopped it."""
    from .terminal import print_error

    print_error("\n".join([*failed, state]))


def tell_failed(failed: list[str]) -> None:
    """Say of the other kernels of a file why they have no time; nothing if there are none."""
    from assay.traces.events.words import counted

    if failed:
        raise CommandError("\n".join([*failed, f"{counted(len(failed), 'kernel')} not timed"]))

"""The pytest plugin: kernels under checks in tests, with failures that show the finding.

Loaded by every pytest where Assay is installed, so it imports the rest when a test needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.sim.check.kinds import DEFAULT_CHECKS, OPTIONAL_CHECKS

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLDevice

    from .checks import Report
    from .pytest_watch import Watched


_MARKERS = (
    "threadgroup_memory(max): fail if a kernel of the test uses more bytes of threadgroup memory",
    "registers(max): fail if a thread of a kernel needs more registers, by an estimate",
)
_BUDGETS = ("threadgroup_memory", "registers")
_watched: pytest.StashKey[Watched] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, all beginning with --assay-."""
    group = parser.getgroup("assay", "Metal kernels on the emulated GPU (assay)")
    group.addoption(
        "--assay-check",
        metavar="LIST",
        help=f"check all kernels that tests run: {','.join(DEFAULT_CHECKS)} ('all' of these), "
        f"and by name only {','.join(OPTIONAL_CHECKS)}",
    )
    group.addoption(
        "--assay-chip",
        metavar="NAME",
        default="m1",
        help="which GPU the fixtures emulate (default: m1)",
    )
    group.addoption(
        "--assay-trace",
        metavar="DIR",
        help="when a test fails, keep its findings as JSON in DIR, with the source and the inputs "
        "of the last dispatch of each kernel, ready for 'assay check', and a predicted timeline",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers; refuse wrong options before any test runs."""
    for text in _MARKERS:
        config.addinivalue_line("markers", text)
    checks = config.getoption("--assay-check")
    if checks is not None:
        from .checks import chosen_checks

        try:
            chosen_checks(checks)
        except ValueError as error:
            raise pytest.UsageError(f"--assay-check {checks}: {error}") from None
    chip_name = config.getoption("--assay-chip")
    if chip_name != "m1":
        from assay.hw.apple.facts.chips import chip

        try:
            chip(chip_name)
        except Exception as error:
            raise pytest.UsageError(f"--assay-chip {chip_name}: {error}") from None


@pytest.fixture
def metal_device(request: pytest.FixtureRequest) -> MTLDevice:
    """A fresh emulated GPU, which is also what MTLCreateSystemDefaultDevice gives in the test."""
    from assay.hal.metal import emulated

    emulated.configure(emulated.DeviceOptions(chip=request.config.getoption("--assay-chip")))
    return emulated.MTLCreateSystemDefaultDevice()


@pytest.fixture
def check_kernel(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`assay.check_kernel` that fails the test if there are findings.

    With `prove=True` it fails, too, unless it is proved that nothing goes wrong in this launch
    whatever the buffers hold, and in any order.
    """
    import assay
    from assay.compiler.msl import CompileError

    from .checks import CheckInputError

    config = request.config
    usual = {
        "checks": config.getoption("--assay-check") or "all",
        "chip": config.getoption("--assay-chip"),
    }

    def check(
        source: str | Path, function: str, *arguments: Any, prove: bool = False, **options: Any
    ) -> Report:
        __tracebackhide__ = True
        caller = sys._getframe(1)
        place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
        try:
            with _proved(prove) as prove_launched:
                report = assay.check_kernel(source, function, *arguments, **{**usual, **options})
            prove_launched(report)
        except (CheckInputError, CompileError) as error:
            pytest.fail(f"{place}: {error}", pytrace=False)
        watched = request.node.stash.get(_watched, None)
        if watched is not None:
            watched.add(report)
        if report:
            pytest.fail(f"{place}: kernel '{function}' has findings\n\n{report}", pytrace=False)
        if prove and report.unchecked:
            pytest.fail(f"{place}: kernel '{function}' is not proved\n\n{report}", pytrace=False)
        return report

    return check


@contextmanager
def _proved(wanted: bool) -> Iterator[Callable[[Report], None]]:
    """Keeps what is launched meanwhile; gives what proves it, once that is over."""
    if not wanted:
        yield lambda report: None
        return
    from .proofs import launches_kept, prove_launches

    with launches_kept() as launches:
        yield lambda report: prove_launches(launches, report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the test run, if an option or a marker asks for it."""
    checks = item.config.getoption("--assay-check")
    trace = item.config.getoption("--assay-trace")
    limits = {name: _limit(item, name) for name in _BUDGETS}
    if checks is None and trace is None and all(limit is None for limit in limits.values()):
        return (yield)
    from .pytest_watch import Budgets, watching

    budgets = Budgets(**limits)
    chip = item.config.getoption("--assay-chip")
    with watching(checks, keep=trace is not None, budgets=budgets, chip=chip) as watched:
        item.stash[_watched] = watched
        try:
            result = yield
        except Exception:
            text = watched.text()
            if text:
                item.add_report_section("call", "assay", text)
            raise
    text = watched.text()
    if text:
        pytest.fail(text, pytrace=False)
    return result


def _limit(item: pytest.Item, name: str) -> int | None:
    """What a marker allows; None without one."""
    marker = item.get_closest_marker(name)
    if marker is None:
        return None
    limit = marker.kwargs.get("max", marker.args[0] if marker.args else None)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        pytest.fail(
            f"{item.nodeid}: @pytest.mark.{name} needs max=NUMBER, not {limit!r}",
            pytrace=False,
        )
    return limit


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show findings that a test raised without the frames of ours; keep what failed."""
    report = yield
    if call.when != "call" or not report.failed:
        return report
    if call.excinfo is not None:
        _show_findings(item, call.excinfo, report)
    watched = item.stash.get(_watched, None)
    trace = item.config.getoption("--assay-trace")
    if watched is not None and trace is not None:
        folder = watched.write(Path(trace), item.nodeid)
        report.sections.append(("assay trace", f"kept in {folder}"))
    return report


def _show_findings(
    item: pytest.Item, caught: pytest.ExceptionInfo[BaseException], report: pytest.TestReport
) -> None:
    """Replace the traceback of `report.raise_if_any()` by its place in the test and the text."""
    known = sys.modules.get("assay.checks")
    if known is None or not isinstance(caught.value, known.CheckFindings):
        return
    own = [entry for entry in caught.traceback if Path(str(entry.path)) == item.path]
    place = f"{item.path.name}:{own[-1].lineno + 1}: " if own else ""
    report.longrepr = f"{place}{caught.value}"

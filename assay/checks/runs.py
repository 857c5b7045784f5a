"""Runs one kernel as often as its check needs: with enough memory, and in several orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.sim.site import Site

from .inputs import Setup
from .orders import order_finding
from .plan import Plan, make_plan
from .report import Report
from .runner import CannotRun, Outcome, Runner

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

_GROWTHS = (1, 16, 256, 4096)  # of assumed buffers, while the kernel reaches beyond them


def run_setup(
    kernel: KernelFunction, setup: Setup, runner: Runner, report: Report
) -> tuple[Plan, Outcome]:
    """Run the kernel, with larger assumed buffers while it needs them, and by every seed.

    Returns how it was run at last, and what the run in the natural order left.

    Raises:
        CheckInputError: if the setup does not fit the kernel.
        CannotRun: if the kernel cannot be run.
    """
    for growth in _GROWTHS:
        plan = make_plan(kernel, setup, growth=growth)
        checker = report.new_checker()
        outcome = runner.run(plan, checker)
        if not (outcome.is_fault and plan.can_grow and _beyond(outcome, plan)):
            break
        if growth != _GROWTHS[-1]:
            report.discard(checker)
    _require_run(outcome)
    _run_seeds(plan, outcome, runner, report)
    return plan, outcome


def _beyond(outcome: Outcome, plan: Plan) -> bool:
    """Whether the kernel left a buffer whose size was only assumed."""
    from assay.sim.simt import KernelFault

    fault = outcome.error
    return isinstance(fault, KernelFault) and fault.buffer in plan.assumed_memory


def _run_seeds(plan: Plan, natural: Outcome, runner: Runner, report: Report) -> None:
    """Run in other orders, and compare the bits that are left with those of the first run."""
    kernel = plan.kernel
    site = Site(kernel.file, kernel.line, 1)
    for seed in report.seeds:
        outcome = runner.run(plan, report.new_checker(seed))
        _require_run(outcome)
        if natural.error is not None or outcome.error is not None:
            continue
        runs = f"the natural order and seed {seed}"
        for name, before in natural.buffers.items():
            both = natural.written[name] & outcome.written[name]
            after = np.where(both, outcome.buffers[name], before)
            if (before != after).any():
                report.add(order_finding(name, before, after, runs, kernel=kernel.name, site=site))


def _require_run(outcome: Outcome) -> None:
    """CannotRun if something else than the kernel's own doing stopped it."""
    if outcome.error is not None and not outcome.is_fault:
        raise CannotRun(str(outcome.error))

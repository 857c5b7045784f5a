"""Predicts how long an Assay module takes, whole: all its devices on one board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay.hal.module.rounds import usual_in_flight
from assay.hw.apple.facts.chips import chip as chip_named

from ..errors import TimeInputError
from .profile import profiled
from .replay import replayed
from .result import ModuleTime

if TYPE_CHECKING:
    from assay.assay_module import AssayModule
    from assay.hal.module.context import Array


def time_module(
    module: AssayModule,
    inputs: Sequence[Array],
    *,
    chip: str = "m1",
    runs: int = 1,
    in_flight: int | None = None,
    say: Callable[[str], None] | None = None,
) -> ModuleTime:
    """How long runs on inputs like these take; the inputs' shapes say which device model runs.

    Without inputs the first shape set is taken, with zeros. `in_flight` is as in
    `AssayModule.map`. Raises TimeInputError, StatusError, and SpecError for an unknown chip.
    """
    if runs < 1 or (in_flight is not None and in_flight < 1):
        raise TimeInputError(f"{runs} runs, {in_flight} in flight; at least 1 of both")
    gpu = chip_named(chip)
    opened = module.opened
    values = list(inputs) or module.zeros()
    names = module.context.inputs
    if len(values) != len(names):
        raise TimeInputError(
            f"it takes {len(names)} inputs ({', '.join(names)}), {len(values)} given"
        )
    profile = profiled(opened, values, gpu, say)
    models = [opened.model(number) for number in opened.models]
    flying = min(runs, in_flight or usual_in_flight(models))
    return ModuleTime(
        module=module.name,
        model=profile.model,
        chip=gpu.name,
        runs=runs,
        in_flight=flying,
        replay=replayed(profile, gpu, runs=runs, in_flight=flying, say=say),
        assumptions=() if inputs else ("inputs are zeros of the first shape set",),
    )

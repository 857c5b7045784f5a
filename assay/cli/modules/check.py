"""`assay check` of Assay modules."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..failures import USAGE, CommandError

if TYPE_CHECKING:
    from ...assay_module import AssayModule
    from ...elements import Array, Value
    from ...reports.report import Report


def check_assay(path: Path, device: str, values: "list[Value]", report: "Report") -> None:
    """Runs a module, in each order that is asked for, while looking; without inputs on zeros."""
    from ...assay_module import load_assay
    from ...checks.modules import check_assay_module
    from ...checks.orders import compare_orders
    from ..terminal import progress

    with progress() as say:
        runs = []
        for seed in (None, *report.seeds):
            say("loading")
            module = load_assay(path, device)
            say(f"checking {module.name}")
            results = check_assay_module(module, inputs_of(module, values), report, seed=seed)
            if results is None:
                return
            runs.append((seed, results))
    compare_orders(runs, report)


def inputs_of(module: "AssayModule", values: "list[Value]") -> "list[Array]":
    """Inputs as arrays of their types; zeros of the first shape set if none are given."""
    names = module.context.inputs
    if not values:
        return module.zeros()
    if len(values) != len(names):
        raise CommandError(
            f"it takes {len(names)} inputs ({', '.join(names)}), {len(values)} given", code=USAGE
        )
    return [module.context.cast(name, each) for name, each in zip(names, values, strict=True)]

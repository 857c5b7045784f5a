"""How far results are apart, as a table or JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..compare import Comparison
    from .diff_sides import Sides

Named = Sequence[tuple[str, "Comparison"]]
_LISTED = 20  # results that differ


def show_compared(sides: "Sides", compared: Named, who: str, *, brief: bool, json: bool) -> None:
    """Print how far results are apart.

    `who` says what was compared; if `brief`, only results that differ are listed, and the first of
    them is looked into.
    """
    from .terminal import print_json, show

    if json:
        equal = all(result.equal for _, result in compared)
        results = [{"name": name, **_json(result)} for name, result in compared]
        print_json({"function": sides.function, "equal": equal, "results": results})
        return
    differing = [(name, result) for name, result in compared if not result.equal]
    listed = differing[:_LISTED] if brief else compared
    if listed:
        _print(f"{sides.function}: {who}", listed)
    for name, result in differing[:1] if brief else differing:
        show(f"result {name}: {_first_bad(result)}")
    if brief:
        alone = f", {sides.alone} have nothing to be compared with" if sides.alone else ""
        found = f"{len(differing) or 'none'} of them different"
        noun = "tensor" if len(compared) == 1 else "tensors"
        show(f"{sides.function}, {who}: {len(compared)} {noun} compared, {found}{alone}")


def _print(title: str, compared: Named) -> None:
    from rich import box
    from rich.table import Table

    from .terminal import show

    table = Table(title=title, box=box.SIMPLE_HEAD)
    for name in ("result", "type"):
        table.add_column(name)
    for name in ("max abs", "max rel", "max ulp", "out of tolerance"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for name, result in compared:
        verdict = "[green]equal[/green]" if result.equal else "[bold red]different[/bold red]"
        table.add_row(
            name,
            result.type,
            f"{result.max_absolute:.3g}",
            f"{result.max_relative:.3g}",
            f"{result.max_ulp:,}",
            f"{result.bad:,} of {result.elements:,}",
            verdict,
        )
    show(table)


def _first_bad(result: "Comparison") -> str:
    if result.problem:
        return result.problem
    bad = result.first_bad
    if bad is None:
        return "equal"
    where = f" at {list(bad.index)}" if bad.index else ""
    return f"first difference{where}: got {bad.got!r}, expected {bad.expected!r}"


def _json(result: "Comparison") -> dict[str, Any]:
    bad = result.first_bad
    return {
        "type": result.type,
        "equal": result.equal,
        "elements": result.elements,
        "out_of_tolerance": result.bad,
        "max_absolute": result.max_absolute,
        "max_relative": result.max_relative,
        "max_ulp": result.max_ulp,
        "problem": result.problem or None,
        "first_bad": bad and {"index": bad.index, "got": bad.got, "expected": bad.expected},
    }

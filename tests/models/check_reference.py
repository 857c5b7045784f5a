"""What `iree-check-module` would say of a suite built for the CPU, found without that tool.

The Python wheels of IREE carry no `iree-check-module`. Each test function is rewritten to return
the values that its checks look at; the CPU build of that runs in IREE's runtime, and the checks
are made here, by their definition in IREE's `check` dialect.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.reference import CpuModule

_CHECK = re.compile(
    r"^  check\.expect_(?P<kind>\w+)\((?P<operands>.*)\) : (?P<type>[^\n]+)\n", re.M
)
_FUNCTION = re.compile(r"func\.func @(?P<name>\w+)\(\) \{\n(?P<body>.*?)\n?  return\n\}", re.S)


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One expectation: its kind and tolerance, and how many values it looks at."""

    kind: str
    atol: float
    values: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewritten:
    """A suite that returns what its checks look at."""

    text: str
    checks: dict[str, list[Check]]


def rewrite(text: str) -> Rewritten:
    """Turns the test functions of a suite into functions that return the checked values."""
    checks: dict[str, list[Check]] = {}

    def function(match: re.Match[str]) -> str:
        found: list[Check] = []
        names: list[str] = []
        types: list[str] = []

        def check(part: re.Match[str]) -> str:
            kind, kept = part["kind"], ""
            first, _, second = part["operands"].partition(", ")
            constant, _, atol = second.partition(", atol ")
            values = [first]
            if kind.endswith("_const"):
                values.append(f"%expected{len(names)}")
                kept = f"  {values[1]} = arith.constant {constant}\n"
            elif constant:
                values.append(constant)
            names.extend(values)
            types.extend([part["type"]] * len(values))
            found.append(
                Check(
                    kind=kind.removesuffix("_const"),
                    atol=float(atol or 1e-4),
                    values=len(values),
                )
            )
            return kept

        body = _CHECK.sub(check, match["body"] + "\n")
        checks[match["name"]] = found
        listed = ", ".join(types)
        return (
            f"func.func @{match['name']}() -> ({listed}) {{\n{body}"
            f"  return {', '.join(names)} : {listed}\n}}"
        )

    return Rewritten(text=_FUNCTION.sub(function, text), checks=checks)


def verdicts(suite: Rewritten, data: bytes) -> dict[str, bool]:
    """Runs the rewritten suite's CPU build; whether each function passes."""
    module = CpuModule(data)
    result = {}
    for name, checks in suite.checks.items():
        values = iter(module.invoke(name, []))
        taken = [(check, [next(values) for _ in range(check.values)]) for check in checks]
        result[name] = all(_holds(check, *operands) for check, operands in taken)
    return result


def _holds(check: Check, value: object, expected: object = None) -> bool:
    a = np.asarray(value)
    if check.kind in ("true", "false"):
        return bool(a) == (check.kind == "true")
    if check.kind == "all_true":
        return bool(np.all(a))
    b = np.asarray(expected)
    if check.kind == "eq":
        return a.tobytes() == b.tobytes()
    assert check.kind == "almost_eq", check.kind
    return bool(np.allclose(a, b, rtol=0, atol=check.atol, equal_nan=True))


def write(suite: Path, folder: Path) -> tuple[Path, Rewritten]:
    """The rewritten suite as a file."""
    rewritten = rewrite(suite.read_text())
    path = folder / f"{suite.stem}_values.mlir"
    path.write_text(rewritten.text)
    return path, rewritten

"""`python -m benchmarks [PART ...] [--threads N] [--json]`: Assay and its peers, side by side.

With `--before FOLDER` each part runs by turns with the Assay that is checked out there instead.
Other parts have options of their own: validation, profile, schedules, apple, pipelines, prove,
repair, mutants, prove_peers, proofs, reduce.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from . import avx2, before
from .measure import Row, report

TITLES = {
    "kernels": "Kernels",
    "checking": "Kernels under checks",
    "spread": "The same kernel in many processes",
    "start": "From the shell",
    "first_runs": "First and second runs of a network",
    "compile": "Compilation",
    "foundry": "Kernels put together in Python",
    "weight": "Kernels that weigh a lot",
    "dispatch": "Host cost of a dispatch",
    "together": "Dispatches that nothing orders",
    "taping": "What timing costs",
    "gemv": "Products with a vector",
    "narrow": "Half precision and int8",
    "sweep": "A sweep of kernels",
    "model": "Networks through IREE",
    "torq": "The Torq NPU",
    "networks": "Networks on the Torq NPU",
    "modules": "Modules split over devices",
    "module_runtime": "Host cost of an Assay module",
    "traces": "Traces",
    "viewer": "The HTML timeline",
}


def main() -> int:
    if sys.argv[1:2] == ["validation"]:
        from .validation.main import main as validation

        return validation(sys.argv[2:])
    if sys.argv[1:2] == ["profile"]:
        from .profile.main import main as profile

        return profile(sys.argv[2:])
    if sys.argv[1:2] == ["schedules"]:
        from .schedules import main as schedules

        return schedules(sys.argv[2:])
    if sys.argv[1:2] == ["apple"]:
        from .apple.main import main as apple

        return apple(sys.argv[2:])
    if sys.argv[1:2] == ["pipelines"]:
        from .pipelines.main import main as pipelines

        return pipelines(sys.argv[2:])
    if sys.argv[1:2] == ["prove"]:
        from .proving.main import main as prove

        return prove(sys.argv[2:])
    if sys.argv[1:2] == ["repair"]:
        from .repair import main as repair

        return repair(sys.argv[2:])
    if sys.argv[1:2] == ["mutants"]:
        from .mutants import main as mutants

        return mutants(sys.argv[2:])
    if sys.argv[1:2] == ["prove_peers"]:
        from .proving_peers.main import main as prove_peers

        return prove_peers(sys.argv[2:])
    if sys.argv[1:2] == ["proofs"]:
        from .proofs import main as proofs

        return proofs(sys.argv[2:])
    if sys.argv[1:2] == ["reduce"]:
        from .reduce import main as reduce

        return reduce(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(TITLES)}; all if none is named")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--full", action="store_true", help="checking: Oclgrind on full sizes; minutes, 10 GB"
    )
    parser.add_argument(
        "--avx2", action="store_true", help="kernels: as on a machine without AVX-512"
    )
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", help="compare with the earlier Assay there"
    )
    parser.add_argument("--turns", type=int, default=3, help="of each side with --before")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in TITLES]
    if unknown:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(TITLES)}")
    if options.before is not None and not (options.before / "benchmarks").is_dir():
        parser.error(f"{options.before} has no folder 'benchmarks'")
    if options.avx2:
        avx2.limit()
    failures = 0
    for part in options.parts or TITLES:
        title = f"{TITLES[part]}, {options.threads} threads"
        failures += report(title, _rows(part, options), as_json=options.json)
    return min(failures, 1)


def _rows(part: str, options: argparse.Namespace) -> list[Row]:
    settings = {"threads": options.threads, "repetitions": options.repetitions}
    if options.before is not None:
        return before.rows(part, options.before, turns=options.turns, **settings)
    if part == "checking":
        settings["full"] = options.full
    module = importlib.import_module(f".{part}", __package__)
    rows: list[Row] = module.rows(**settings)
    return rows


if __name__ == "__main__":
    sys.exit(main())

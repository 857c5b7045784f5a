"""`python -m benchmarks [PART ...] [--threads N] [--json]`: Assay and its peers, side by side."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from .measure import report

TITLES = {
    "kernels": "Kernels",
    "checking": "Kernels under checks",
    "spread": "The same kernel in many processes",
    "start": "From the shell",
    "compile": "Compilation",
    "foundry": "Kernels put together in Python",
    "weight": "Kernels that weigh a lot",
    "dispatch": "Host cost of a dispatch",
    "together": "Dispatches that nothing orders",
    "taping": "What timing costs",
    "gemv": "Products with a vector",
    "narrow": "Half precision and int8",
    "sweep": "A sweep of kernels",
    "model": "A model through IREE",
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
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in TITLES]
    if unknown:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(TITLES)}")
    failures = 0
    for part in options.parts or TITLES:
        module = importlib.import_module(f".{part}", __package__)
        settings = {"threads": options.threads, "repetitions": options.repetitions}
        if part == "checking":
            settings["full"] = options.full
        rows = module.rows(**settings)
        title = f"{TITLES[part]}, {options.threads} threads"
        failures += report(title, rows, as_json=options.json)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())

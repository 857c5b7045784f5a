"""Runs the cases, `python -m assay.recordings.suite [PATTERN]`, where `import Metal` is there.

With `--tolerances` it prints a tolerance file for replays instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .cases import cases
from .promised import tolerance_file
from .run import run_cases


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases whose names fit a pattern; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m assay.recordings.suite")
    parser.add_argument("pattern", nargs="?", default="*", help="which cases: 'convert/*'")
    parser.add_argument(
        "--tolerances", action="store_true", help="print what Apple's promises allow, as TOML"
    )
    given = parser.parse_args(arguments)
    chosen = cases(given.pattern)
    if not chosen:
        print(f"error: no case fits {given.pattern!r}", file=sys.stderr)
        return 1
    if given.tolerances:
        print(tolerance_file(chosen), end="")
        return 0
    failed = run_cases(chosen)
    for name, why in failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} cases ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

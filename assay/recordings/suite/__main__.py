"""Runs the cases: `python -m assay.recordings.suite [PATTERN]`, where `import Metal` is there."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .cases import cases
from .run import run_cases


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases whose names fit a pattern; the exit code."""
    patterns = list(sys.argv[1:] if arguments is None else arguments)
    chosen = cases(patterns[0] if patterns else "*")
    if not chosen:
        print(f"error: no case fits {patterns[0]!r}", file=sys.stderr)
        return 1
    failed = run_cases(chosen)
    for name, why in failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} cases ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

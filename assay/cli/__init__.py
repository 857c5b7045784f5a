"""The command line: what people type."""

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    from .failures import run_guarded

    if sys.argv[1:] in (["--version"], ["-V"]):
        from .. import __version__

        print(f"assay {__version__}")
        raise SystemExit(0)
    raise SystemExit(run_guarded())

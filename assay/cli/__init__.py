"""The command line: what people type."""


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    from .failures import run_guarded

    raise SystemExit(run_guarded())

"""The command line: what people type."""


def main() -> None:
    """Run the command line."""
    raise SystemExit(2)

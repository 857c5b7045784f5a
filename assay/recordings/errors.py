"""What keeps a dispatch from being replayed."""


class CannotReplay(Exception):
    """A dispatch cannot be run here; the message says why."""

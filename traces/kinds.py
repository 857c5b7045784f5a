"""The event kinds of Assay, for programs that record; each is declared in `events.kinds`."""

from .events.kinds import *  # noqa: F403

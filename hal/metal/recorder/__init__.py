"""The Metal API around another one: programs run as they would, and what they ran is recorded.

It works on any API with PyObjC's spelling: Apple's on a Mac, the emulated one elsewhere. A
program gets objects that stand for those of Metal and pass on what is called. What it commits is
run dispatch by dispatch, each in a command buffer of its own, with all that the dispatch can
reach read before and after, so that times are those of single dispatches.
"""

from .api import RecordingMetal
from .session import Chosen, Session

__all__ = ["Chosen", "RecordingMetal", "Session"]

"""Extra assumptions under which there would be a proof, as weak as they can be found."""

from .offer import Prove, offered, offered_of, with_more

__all__ = ["Prove", "offered", "offered_of", "with_more"]

"""Extra assumptions under which there would be a proof, as weak as they can be found."""

from .offer import IsProved, Prove, with_offer

__all__ = ["IsProved", "Prove", "with_offer"]

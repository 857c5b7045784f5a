"""Language models: Llama-like decoders of files, run and timed kernel by kernel."""

from .config import Config
from .llama import Llama
from .reference import reference_logits
from .seeded import SMALL, write_seeded
from .weights import Weights, load_weights

__all__ = [
    "SMALL",
    "Config",
    "Llama",
    "Weights",
    "load_weights",
    "reference_logits",
    "write_seeded",
]

"""Products of matrices, tile by tile: pipelines that are declared, and their text in MSL."""

from .budget import Budget
from .operands import Dense, Operands, Weighted
from .pipeline import Pipeline
from .stage import ProductStage
from .stripes import SumStage
from .tile import MATRIX, Simdgroups, Threads, Tile
from .variants import MARLIN

__all__ = [
    "MARLIN",
    "MATRIX",
    "Budget",
    "Dense",
    "Operands",
    "Pipeline",
    "ProductStage",
    "Simdgroups",
    "SumStage",
    "Threads",
    "Tile",
    "Weighted",
]

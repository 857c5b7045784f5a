"""Kernels as they are declared: what they take, what they run over, and their text in MSL."""

from .arguments import (
    Argument,
    Output,
    Params,
    Tensor,
    Updated,
    argument_of,
    derived,
    dtype_of,
    output,
    tensor,
    updated,
)
from .compound import Compound
from .declared import Declared
from .epilogues import GELU, GELU_SIGMOID, RELU, SILU, Epilogue, added, bias, residual, scaled
from .grids import Grid, GridOf, custom, per_element, per_row, per_vector, simdgroup_per_row
from .stages import (
    Emitted,
    Main,
    PolicyStage,
    Result,
    Stage,
    TemplateStage,
    ThreadgroupArray,
)
from .standalone import Standalone

__all__ = [
    "GELU",
    "GELU_SIGMOID",
    "RELU",
    "SILU",
    "Argument",
    "Compound",
    "Declared",
    "Emitted",
    "Epilogue",
    "Grid",
    "GridOf",
    "Main",
    "Output",
    "Params",
    "PolicyStage",
    "Result",
    "Stage",
    "Standalone",
    "TemplateStage",
    "Tensor",
    "ThreadgroupArray",
    "Updated",
    "added",
    "argument_of",
    "bias",
    "custom",
    "derived",
    "dtype_of",
    "output",
    "per_element",
    "per_row",
    "per_vector",
    "residual",
    "scaled",
    "simdgroup_per_row",
    "tensor",
    "updated",
]

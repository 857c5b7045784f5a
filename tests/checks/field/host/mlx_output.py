# Source: written from memory of the class: an output of mx.fast.metal_kernel without init_value
# The kernel adds to an output that holds whatever the memory held.
import numpy as np
from rig import FIXED

from assay.mlx import metal_kernel

SOURCE = """
    atomic_fetch_add_explicit(  // BUG uninitialised-read
        &counts[values[thread_position_in_grid.x] % 4], 1, memory_order_relaxed);
"""
kernel = metal_kernel(
    name="histogram",
    input_names=["values"],
    output_names=["counts"],
    source=SOURCE,
    atomic_outputs=True,
)
kernel(
    inputs=[np.arange(64, dtype=np.uint32)],
    grid=(64, 1, 1),
    threadgroup=(32, 1, 1),
    output_shapes=[(4,)],
    output_dtypes=[np.int32],
    **({"init_value": 0} if FIXED else {}),
)

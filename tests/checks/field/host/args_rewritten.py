# Source: https://github.com/gfx-rs/gfx/issues/2866
# An argument buffer is encoded anew for the next dispatch while the last one may read it.
import Metal
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
struct Args { device float* x; };
kernel void clear(device const Args& args, uint i [[thread_position_in_grid]]) {
    args.x[i] = 1;  // MAYBE not-resident
}
"""
clear = kernels(SOURCE)["clear"]
targets = [buffer("a"), buffer("b")]
tables = [buffer(f"table {n}", 2) for n in range(2)]
for turn, target in enumerate(targets):
    table = tables[turn if FIXED else 0]
    view(table, np.uint64)[0] = target.gpuAddress()  # BUG host-write-in-flight
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    bind(encoder, clear, table)
    encoder.useResource_usage_(target, Metal.MTLResourceUsageWrite)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    encoder.endEncoding()
    commands.commit()
commands.waitUntilCompleted()

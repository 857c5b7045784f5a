# Source: https://github.com/3Shain/dxmt/pull/73
# The fence is updated by the pass before the one that writes.
from rig import FIXED, UNTRACKED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void blur(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = 0.5f * x[i] + 1;
}
"""
blur = kernels(SOURCE)["blur"]
a, b, c, d = (buffer(name, 64, UNTRACKED) for name in "abcd")
fence = device.newFence()
commands = queue.commandBuffer()
for number, (source, target) in enumerate(((a, b), (d, c))):
    encoder = commands.computeCommandEncoder()
    bind(encoder, blur, source, target)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    if number == (1 if FIXED else 0):
        encoder.updateFence_(fence)
    encoder.endEncoding()
encoder = commands.computeCommandEncoder()
encoder.waitForFence_(fence)
bind(encoder, blur, c, a if FIXED else d)
encoder.setBuffer_offset_atIndex_(buffer("e", 64), 0, 1)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-passes
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()

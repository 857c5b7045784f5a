"""Checks see what kernels do with textures: they are device memory like any other."""

import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLDevice
from assay.hal.observe import checking
from assay.sim.check import Checker, Finding, parse_checks
from tests.support.textures import descriptor, pipeline

BLUR = """
kernel void k(texture2d<float, access::read_write> image, uint2 at [[thread_position_in_grid]]) {
  image.write(float4(at.x, at.y, 0, 1), at);
  BARRIER
  float4 other = image.read(uint2((at.x + 33) % 64, at.y));
  threadgroup_barrier(mem_flags::mem_texture);
  image.write(other, at);
}
"""


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


def found(device: MTLDevice, code: str) -> list[Finding]:
    with checking(Checker(parse_checks("race"))) as checker:
        image = device.newTextureWithDescriptor_(
            descriptor(Metal.MTLPixelFormatRGBA32Float, (64, 1))
        )
        command_buffer = device.newCommandQueue().commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline(device, code, "k"))
        encoder.setTexture_atIndex_(image, 0)
        encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None, command_buffer.error()
    return list(checker.findings)


def test_a_race_between_texels_is_found_at_the_users_lines(device: MTLDevice) -> None:
    findings = found(device, BLUR.replace("BARRIER", ""))
    assert [finding.kind for finding in findings] == ["race-read-write"]
    lines = sorted(party.site.line for party in findings[0].parties)
    assert lines == [5, 7]


def test_a_texture_barrier_orders_texels(device: MTLDevice) -> None:
    barrier = "threadgroup_barrier(mem_flags::mem_texture);"
    assert found(device, BLUR.replace("BARRIER", barrier)) == []

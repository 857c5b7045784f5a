"""Mipmaps: each level sampled from the one before, by a kernel of ours."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..resources.memory import Bytes
from ..texture_constants import MTLTextureType2DArray, MTLTextureType3D
from ..worker import at_work, compiling, running
from .layout import IDENTITY, description

if TYPE_CHECKING:
    from assay.sim.simt import Executable

    from ..device import MTLDevice
    from .texture import MTLTexture

_SIZE: Final = (16, 16, 1)
_SOURCE: Final = """
#include <metal_stdlib>
using namespace metal;
constexpr sampler between(filter::linear, mip_filter::nearest);
kernel void flat(texture2d_array<float> from [[texture(0)]],
                 texture2d_array<float, access::write> to [[texture(1)]],
                 constant uint& made [[buffer(0)]], uint3 at [[thread_position_in_grid]]) {
  float2 size = float2(to.get_width(made), to.get_height(made));
  float2 place = (float2(at.xy) + 0.5f) / size;
  to.write(from.sample(between, place, at.z, level(made - 1)), at.xy, at.z, made);
}
kernel void solid(texture3d<float> from [[texture(0)]],
                  texture3d<float, access::write> to [[texture(1)]],
                  constant uint& made [[buffer(0)]], uint3 at [[thread_position_in_grid]]) {
  float3 size = float3(to.get_width(made), to.get_height(made), to.get_depth(made));
  float3 place = (float3(at) + 0.5f) / size;
  to.write(from.sample(between, place, level(made - 1)), at, made);
}
"""


@dataclass(slots=True)
class MipmapCommand:
    """All levels of a texture but the first."""

    texture: "MTLTexture"

    def run(self, device: "MTLDevice") -> None:
        """Make one level after the other."""
        layout = self.texture.layout
        is_solid = layout.type == MTLTextureType3D
        with at_work(compiling):
            executable = _executable(device, "solid" if is_solid else "flat")
        # Slices and faces of every other type lie as those of an array of 2D textures.
        plain = replace(layout, swizzle=IDENTITY)
        if not is_solid:
            plain = replace(plain, type=MTLTextureType2DArray, array_length=layout.slices)
        texels = self.texture.storage.address + self.texture.start
        described = np.frombuffer(bytearray(description(plain, texels)), np.uint8)
        memory = device.memory
        address = memory.inline("generateMipmapsForTexture_", described, "a texture")
        try:
            for number in range(1, len(layout.levels)):
                level = layout.levels[number]
                grid = level.width, level.height, level.depth if is_solid else layout.slices
                self._run_level(device, executable, address, number, grid)
        finally:
            memory.release_inline([address])

    def _run_level(
        self,
        device: "MTLDevice",
        executable: "Executable",
        address: int,
        number: int,
        grid: tuple[int, int, int],
    ) -> None:
        word: Bytes = np.array([number], dtype="<u4").view(np.uint8)
        place = device.memory.inline("generateMipmapsForTexture_", word, "a level")
        try:
            with at_work(running):
                device.engine.dispatch(
                    executable,
                    device.memory.memory,
                    [address, address, place],
                    threads=grid,
                    threadgroups=None,
                    workers=device.options.workers,
                    fuel=None,
                )
        finally:
            device.memory.release_inline([place])


def _executable(device: "MTLDevice", name: str) -> "Executable":
    """Our kernel, compiled; the compiler keeps it on disk."""
    library = device.engine.compile_source(
        _SOURCE, macros={}, fast_math=False, language_version=(3, 2)
    )
    return library.function(name).program().specialise(_SIZE)

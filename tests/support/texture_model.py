"""Sampling of textures as the MSL specification describes it, in NumPy and doubles."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float64]


def address(i: int, size: int, mode: str) -> int | None:
    """The texel that number `i` of a row stands for; None outside of it."""
    if mode == "repeat":
        return i % size
    if mode == "mirrored_repeat":
        folded = i % (2 * size)
        return folded if folded < size else 2 * size - 1 - folded
    if mode == "clamp_to_edge":
        return min(max(i, 0), size - 1)
    return i if 0 <= i < size else None


def sample(
    image: Image,
    place: Sequence[float],
    *,
    modes: Sequence[str],
    linear: bool,
    border: Sequence[float] = (0, 0, 0, 0),
    offset: Sequence[int] = (0, 0, 0),
) -> Image:
    """One sample; `place` counts texels from x on, the axes of `image` are (z,) y, x, channel."""
    axes = image.ndim - 1
    sizes = image.shape[:-1][::-1]
    firsts, weights = [], []
    for axis in range(axes):
        u = place[axis] - 0.5 if linear else place[axis]
        firsts.append(int(np.floor(u)) + offset[axis])
        weights.append(u - np.floor(u) if linear else 0.0)
    total = np.zeros(image.shape[-1])
    for corner in range(1 << axes if linear else 1):
        bits = [corner >> axis & 1 for axis in range(axes)]
        weight = np.prod([w if bit else 1 - w for w, bit in zip(weights, bits, strict=True)])
        found = [
            address(first + bit, size, mode)
            for first, bit, size, mode in zip(firsts, bits, sizes, modes, strict=False)
        ]
        inside = all(index is not None for index in found)
        total += weight * (image[tuple(found[::-1])] if inside else np.array(border))
    return total


def sampled(
    image: Image, places: NDArray[np.float32], normalized: bool, **how: object
) -> NDArray[np.float64]:
    """`sample` at every row of `places`."""
    scale = np.array(image.shape[:-1][::-1]) if normalized else 1
    return np.array([sample(image, place * scale, **how) for place in places.astype(np.float64)])  # type: ignore[arg-type]


def box_halved(image: Image) -> Image:
    """The next mipmap level of an image of even extents."""
    height, width, channels = image.shape
    half: Image = image.reshape(height // 2, 2, width // 2, 2, channels).mean(axis=(1, 3))
    return half


def cube_direction(face: int, s: float, t: float) -> tuple[float, float, float]:
    """The direction to a place on a face of a cube, each coordinate from -1 to 1."""
    to: Sequence[Callable[[], tuple[float, float, float]]] = (
        lambda: (1, -t, -s),
        lambda: (-1, -t, s),
        lambda: (s, 1, t),
        lambda: (s, -1, -t),
        lambda: (s, -t, 1),
        lambda: (-s, -t, -1),
    )
    return to[face]()

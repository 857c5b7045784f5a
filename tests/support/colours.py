"""How far apart colours are, also to people who do not see all of them.

Colour blindness by the matrices of Machado, Oliveira and Fernandes (2009) at full severity, in
linear RGB; distance by CIEDE2000 (Sharma, Wu and Dalal, 2005).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> NDArray[np.float64]:
    """Linear RGB of "#rrggbb", from 0 to 1."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio, from 1 to 21."""
    light = sorted(float(_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def least_distance(colours: Sequence[str], sight: str) -> tuple[float, str, str]:
    """The two colours that are hardest to tell apart, and how far apart they are."""
    labs = {colour: lab(np.clip(SIGHT[sight] @ linear(colour), 0, 1)) for colour in colours}
    return min((distance(labs[a], labs[b]), a, b) for a, b in itertools.combinations(colours, 2))


def lab(rgb: NDArray[np.float64]) -> tuple[float, float, float]:
    """CIE L*a*b* of linear RGB, white D65."""
    ratio = _XYZ @ rgb / _WHITE
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))


def distance(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1 = math.degrees(math.atan2(b1, a1 * stretch)) % 360
    h2 = math.degrees(math.atan2(b2, a2 * stretch)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    weight = (
        1
        - 0.17 * math.cos(math.radians(hue - 30))
        + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6))
        - 0.20 * math.cos(math.radians(4 * hue - 63))
    )
    s_light = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    s_chroma, s_hue = 1 + 0.045 * chroma, 1 + 0.015 * chroma * weight
    bend = 2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    bend *= -math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    d_hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    parts = ((l2 - l1) / s_light, (c2 - c1) / s_chroma, d_hue / s_hue)
    return math.sqrt(sum(part**2 for part in parts) + bend * parts[1] * parts[2])

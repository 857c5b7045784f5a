"""Gaussian splats, from their projection to an image."""

import numpy as np

from tests.support.metal_kernel import kernel, run

SPLAT = np.dtype(
    {
        "names": ["position", "scale", "rotation", "colour"],
        "formats": ["3f4", "3f4", "4f4", "4f2"],
        "offsets": [0, 12, 32, 48],
        "itemsize": 64,
    }
)
PROJECTED = np.dtype(
    {
        "names": ["centre", "depth", "tiles", "conic", "colour", "box"],
        "formats": ["2f4", "f4", "u4", "3f4", "4f2", "4u2"],
        "offsets": [0, 8, 12, 16, 32, 40],
        "itemsize": 48,
    }
)
WIDTH, HEIGHT, FOCAL = 52, 40, (60.0, 55.0)
TILES = (4, 3)


def camera() -> tuple[np.ndarray, bytes]:
    """A view matrix, and the struct of kernels (matrices lie in columns)."""
    angle = 0.3
    view = np.eye(4, dtype=np.float32)
    view[:3, :3] = [
        [np.cos(angle), 0, np.sin(angle)],
        [0, 1, 0],
        [-np.sin(angle), 0, np.cos(angle)],
    ]
    view[:3, 3] = [0.1, -0.2, 4]
    data = view.T.tobytes() + np.float32(FOCAL).tobytes() + np.uint32((WIDTH, HEIGHT)).tobytes()
    return view.astype(np.float64), data


def random_splats(count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    splats = np.zeros(count, dtype=SPLAT)
    splats["position"] = rng.uniform(-1.5, 1.5, (count, 3))
    splats["position"][::17, 2] = -9  # behind
    splats["scale"] = rng.uniform(0.03, 0.3, (count, 3))
    splats["rotation"] = rng.standard_normal((count, 4))
    splats["colour"] = rng.uniform(0.2, 1, (count, 4))
    return splats


def rotations(quaternions: np.ndarray) -> np.ndarray:
    unit = quaternions / np.linalg.norm(quaternions, axis=1)[:, None]
    w, v = unit[:, 0], unit[:, 1:]
    cross = np.zeros((len(w), 3, 3))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        cross[:, j, i], cross[:, i, j] = v[:, k], -v[:, k]
    return np.eye(3) + 2 * w[:, None, None] * cross + 2 * cross @ cross


def reference_image(splats: np.ndarray, view: np.ndarray) -> np.ndarray:
    """Every splat over every pixel, nearest first, in float64."""
    p = splats["position"].astype(np.float64) @ view[:3, :3].T + view[:3, 3]
    turn = rotations(splats["rotation"].astype(np.float64))
    shaped = view[:3, :3] @ turn * splats["scale"][:, None].astype(np.float64)
    image = np.zeros((HEIGHT, WIDTH, 4))
    left = np.ones((HEIGHT, WIDTH))
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    for i in np.argsort(p[:, 2], kind="stable"):
        depth = p[i, 2]
        if depth <= 0.2:
            continue
        jacobian = np.array(
            [
                [FOCAL[0] / depth, 0, -FOCAL[0] * p[i, 0] / depth**2],
                [0, FOCAL[1] / depth, -FOCAL[1] * p[i, 1] / depth**2],
            ]
        )
        flat = jacobian @ shaped[i]
        covariance = flat @ flat.T + 0.3 * np.eye(2)
        inverse = np.linalg.inv(covariance)
        middle = covariance.trace() / 2
        spread = np.sqrt(max(0.1, middle**2 - np.linalg.det(covariance)))
        radius = np.ceil(3 * np.sqrt(middle + spread))
        centre = np.array(FOCAL) * p[i, :2] / depth + np.array([WIDTH, HEIGHT]) / 2
        d = np.stack([centre[0] - x, centre[1] - y], axis=-1)
        power = -0.5 * np.einsum("hwi,ij,hwj->hw", d, inverse, d)
        alpha = np.minimum(0.99, float(splats["colour"][i, 3]) * np.exp(power))
        for axis, grid in ((0, x), (1, y)):  # tiles that its box touches
            tile = grid // 16
            low, high = (centre[axis] - radius) // 16, (centre[axis] + radius) // 16
            alpha = np.where((tile >= low) & (tile <= high), alpha, 0)
        alpha = np.where((alpha >= 1 / 255) & (left >= 1e-3), alpha, 0)
        colour = np.append(splats["colour"][i, :3].astype(np.float64), 1.0)
        image += (left * alpha)[..., None] * colour
        left *= 1 - alpha
    return image


def test_splats_are_blended_to_an_image() -> None:
    splats = random_splats(300)
    view, camera_bytes = camera()
    projected = np.zeros(splats.size, dtype=PROJECTED)

    run(
        kernel("splats", "project"),
        splats,
        projected,
        camera_bytes,
        np.uint32(splats.size),
        threads=splats.size,
        threadgroup=64,
    )

    ends = projected["tiles"].cumsum(dtype=np.uint32)
    total = int(ends[-1])
    keys, owners = np.zeros(total, dtype=np.uint64), np.zeros(total, dtype=np.uint32)
    run(
        kernel("splats", "make_keys"),
        projected,
        ends - projected["tiles"],
        keys,
        owners,
        np.uint32(TILES[0]),
        threads=splats.size,
        threadgroup=32,
    )
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    ranges = np.zeros((TILES[0] * TILES[1], 2), dtype=np.uint32)
    run(
        kernel("splats", "find_ranges"),
        keys,
        ranges,
        np.uint32(total),
        threads=total,
        threadgroup=128,
    )
    image = np.zeros((HEIGHT, WIDTH, 4), dtype=np.float16)
    run(
        kernel("splats", "blend"),
        projected,
        owners,
        ranges,
        image,
        np.array([WIDTH, HEIGHT], dtype=np.uint32),
        threadgroups=TILES,
        threadgroup=(16, 16),
    )

    assert (projected["depth"][::17] == 0).all()
    assert ranges[:, 1].max() == total
    assert (ranges[:, 1] - ranges[:, 0]).max() > 64  # more than one batch
    np.testing.assert_allclose(image, reference_image(splats, view), atol=8e-3)

"""Elementary functions against double precision, within the bounds of the MSL specification."""

from collections.abc import Callable

import numpy as np
import pytest

from assay.hw.apple.facts.promises import promises
from tests.support.msl_host import HostKernel

F = np.float32
REFERENCE = 0.001  # how far off in units double precision may be itself
PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Errors in units of the last place of the exact value; 0 where both overflow or are NaN."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(exact)
        unit = np.exp2(np.maximum(exponent - 24, -149).astype(np.float64))
        error = np.abs(got.astype(np.float64) - exact) / unit
        rounded = exact.astype(F)
    same = (np.isnan(got) & np.isnan(exact)) | (got == rounded)
    return np.where(same, 0.0, error)


def grid(low: float, high: float) -> np.ndarray:
    """Numbers between two bounds, evenly spaced and by magnitude, with the bounds."""
    rng = np.random.default_rng(7)
    even = rng.uniform(low, high, 4000)
    small = np.exp(rng.uniform(-60, 0, 2000)) * rng.choice([-1, 1], 2000)
    values = np.concatenate([even, small, [low, high, 0.0, 1.0, -1.0, 0.5]]).astype(F)
    return values[(values >= F(low)) & (values <= F(high))]


def every_magnitude(positive: bool = False) -> np.ndarray:
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2**32, 6000, dtype=np.uint64).astype(np.uint32)
    values = bits.view(F)
    values = values[np.isfinite(values)]
    return np.abs(values) if positive else values


POSITIVE, ALL = every_magnitude(positive=True), every_magnitude()
# Argument reduction of NumPy's double functions is exact for all floats.
ONE_ARGUMENT: list[tuple[str, Callable[[np.ndarray], np.ndarray], np.ndarray]] = [
    ("exp", np.exp, grid(-104, 89)),
    ("exp2", np.exp2, grid(-150, 128)),
    ("exp10", lambda x: np.power(10.0, x), grid(-45, 38.6)),
    ("log", np.log, POSITIVE),
    ("log2", np.log2, POSITIVE),
    ("log10", np.log10, POSITIVE),
    ("sin", np.sin, ALL),
    ("cos", np.cos, ALL),
    ("tan", np.tan, ALL),
    ("sinpi", lambda x: np.sin(np.pi * np.fmod(x, 2)), grid(-0.25, 0.25)),
    ("cospi", lambda x: np.cos(np.pi * np.fmod(x, 2)), grid(-0.25, 0.25)),
    ("tanpi", lambda x: np.tan(np.pi * np.fmod(x, 2)), grid(-0.25, 0.25)),
    ("asin", np.arcsin, grid(-1, 1)),
    ("acos", np.arccos, grid(-1, 1)),
    ("atan", np.arctan, ALL),
    ("sinh", np.sinh, grid(-89, 89)),
    ("cosh", np.cosh, grid(-89, 89)),
    ("tanh", np.tanh, grid(-12, 12)),
    ("asinh", np.arcsinh, ALL),
    ("acosh", np.arccosh, POSITIVE[POSITIVE >= 1]),
    ("atanh", np.arctanh, grid(-1, 1)),
    ("sqrt", np.sqrt, POSITIVE),
    ("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    ("fract", lambda x: np.minimum(x - np.floor(x), 1 - 2.0**-24), ALL),
]
TWO_ARGUMENTS: list[tuple[str, Callable[..., np.ndarray]]] = [
    ("pow", np.power),
    ("atan2", np.arctan2),
    ("fmod", np.fmod),
    ("fdim", lambda x, y: np.where(x > y, x - y, 0.0)),
    ("copysign", np.copysign),
    ("fmin", np.fmin),
    ("fmax", np.fmax),
]


@pytest.fixture(scope="module")
def kernels() -> Callable[[str, int], HostKernel]:
    def make(function: str, count: int) -> HostKernel:
        parameters = ", ".join(f"device const float* x{i}" for i in range(count))
        arguments = ", ".join(f"x{i}[i]" for i in range(count))
        return HostKernel(
            f"{PRELUDE}kernel void k({parameters}, device float* y, constant int& n)"
            f"{{ for (int i = 0; i < n; i++) y[i] = {function}({arguments}); }}",
            "k",
        )

    return make


@pytest.mark.parametrize(("name", "exact", "x"), ONE_ARGUMENT, ids=[row[0] for row in ONE_ARGUMENT])
def test_function_keeps_its_bound(
    kernels: Callable[[str, int], HostKernel],
    name: str,
    exact: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
) -> None:
    y = np.zeros_like(x)
    kernels(f"precise::{name}", 1)(x, y, np.array([len(x)], np.int32))
    with np.errstate(all="ignore"):
        errors = ulps(y, exact(x.astype(np.float64)))
    worst = int(np.argmax(errors))
    bound = promises().precise[name] + REFERENCE
    assert errors[worst] <= bound, f"{name}({x[worst]!r}) = {y[worst]!r}: {errors[worst]:.2f} ulp"


@pytest.mark.parametrize(("name", "exact"), TWO_ARGUMENTS, ids=[row[0] for row in TWO_ARGUMENTS])
def test_function_of_two_keeps_its_bound(
    kernels: Callable[[str, int], HostKernel],
    name: str,
    exact: Callable[..., np.ndarray],
) -> None:
    rng = np.random.default_rng(9)
    x, z = every_magnitude(), rng.permutation(every_magnitude())
    if name == "pow":
        x = np.exp(rng.normal(0, 10, 6000)).astype(F)
        z = rng.normal(0, 10, 6000).astype(F)
    y = np.zeros_like(x)
    kernels(f"precise::{name}", 2)(x, z, y, np.array([len(x)], np.int32))
    with np.errstate(all="ignore"):
        errors = ulps(y, exact(x.astype(np.float64), z.astype(np.float64)))
    worst = int(np.argmax(errors))
    bound = promises().precise[name] + REFERENCE
    assert errors[worst] <= bound, f"{name}({x[worst]!r}, {z[worst]!r}) = {y[worst]!r}"


HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
HALVES = HALVES[np.isfinite(HALVES)]


@pytest.mark.parametrize(
    ("name", "exact"),
    [row[:2] for row in ONE_ARGUMENT if row[0] in promises().half],
    ids=[row[0] for row in ONE_ARGUMENT if row[0] in promises().half],
)
def test_function_of_every_half_keeps_its_bound(
    name: str, exact: Callable[[np.ndarray], np.ndarray]
) -> None:
    y = np.zeros_like(HALVES)
    HostKernel(
        f"{PRELUDE}kernel void k(device const half* x, device half* y, constant int& n)"
        f"{{ for (int i = 0; i < n; i++) y[i] = {name}(x[i]); }}",
        "k",
    )(HALVES, y, np.array([len(y)], np.int32))
    with np.errstate(all="ignore"):
        wanted = exact(HALVES.astype(np.float64))
        if name == "fract":
            wanted = np.minimum(wanted, 1 - 2.0**-11)  # below 1, which rounding may not reach
        _, exponent = np.frexp(wanted)
        unit = np.exp2(np.maximum(exponent - 11, -24).astype(np.float64))
        errors = np.abs(y.astype(np.float64) - wanted) / unit
        same = (np.isnan(y) & np.isnan(wanted)) | (y == wanted.astype(np.float16))
    errors[same] = 0
    worst = int(np.argmax(errors))
    bound = promises().half[name] + REFERENCE
    assert errors[worst] <= bound, f"{name}({HALVES[worst]!r}) = {y[worst]!r}"


@pytest.mark.parametrize(
    ("name", "exact", "x"),
    [row for row in ONE_ARGUMENT if row[0] in promises().fast | promises().fast_absolute],
    ids=[row[0] for row in ONE_ARGUMENT if row[0] in promises().fast | promises().fast_absolute],
)
def test_function_keeps_the_bound_of_fast_math(
    kernels: Callable[[str, int], HostKernel],
    name: str,
    exact: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
) -> None:
    known = promises()
    x = x[np.abs(x) <= known.fast_domain.get(name, np.inf)]
    y = np.zeros_like(x)
    kernels(f"fast::{name}", 1)(x, y, np.array([len(x)], np.int32))
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        wanted = exact(x)
        errors, apart = ulps(y, wanted), np.abs(y - wanted)
        bound = known.fast.get(name, -1) + REFERENCE
        bound = bound + known.fast_slope.get(name, 0) * np.floor(np.abs(2 * x))
        near = (x >= 0.5) & (x <= 2) & (apart <= known.fast_near_one.get(name, -1))
    assert np.all((errors <= bound) | near | (apart <= known.fast_absolute.get(name, -1)))


def test_reciprocal_square_roots_are_correctly_rounded(
    kernels: Callable[[str, int], HostKernel],
) -> None:
    # All others are these times a power of four. The first one is the hardest: the exact root is
    # closest to the middle between two floats.
    rng = np.random.default_rng(10)
    x = np.concatenate([[F(float.fromhex("0x1.13e07p+1"))], rng.uniform(1, 4, 200_000)]).astype(F)
    y = np.zeros_like(x)
    kernels("rsqrt", 1)(x, y, np.array([len(x)], np.int32))
    with np.errstate(all="ignore"):
        low = (y.astype(np.float64) + np.nextafter(y, F(0))) / 2
        high = (y.astype(np.float64) + np.nextafter(y, F(2))) / 2
    assert np.all(rest_of_root(x, low) >= 0)
    assert np.all(rest_of_root(x, high) <= 0)


def rest_of_root(x: np.ndarray, root: np.ndarray) -> np.ndarray:
    """1 - x * root^2 in exact steps, for a root of 25 bits."""
    square = root * root
    upper = (square * 2.0**28).round() / 2.0**28
    return (1 - x * upper) - x * (square - upper)


INF, NAN = np.inf, np.nan
SPECIAL = [
    ("exp", [INF, -INF, NAN, 0.0], [INF, 0.0, NAN, 1.0]),
    ("log", [0.0, -1.0, INF, NAN, 1.0], [-INF, NAN, INF, NAN, 0.0]),
    ("sin", [INF, NAN, -0.0], [NAN, NAN, -0.0]),
    ("atan", [INF, -INF, -0.0], [F(np.pi / 2), F(-np.pi / 2), -0.0]),
    ("tanh", [INF, -INF, NAN, -0.0], [1.0, -1.0, NAN, -0.0]),
    ("atanh", [1.0, -1.0, 2.0], [INF, -INF, NAN]),
    ("acosh", [0.5, 1.0, INF, -1e4, -INF], [NAN, 0.0, INF, NAN, NAN]),
    ("round", [0.5, -0.5, 2.5, 0.49999997], [1.0, -1.0, 3.0, 0.0]),
    ("rint", [0.5, 1.5, 2.5, -0.5], [0.0, 2.0, 2.0, -0.0]),
    ("sign", [-0.0, NAN, -3.0, 2.0], [-0.0, 0.0, -1.0, 1.0]),
    ("saturate", [NAN, -1.0, 0.5, 2.0], [0.0, 0.0, 0.5, 1.0]),
]


@pytest.mark.parametrize(("name", "x", "expected"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_values(
    kernels: Callable[[str, int], HostKernel], name: str, x: list[float], expected: list[float]
) -> None:
    given, y = np.array(x, F), np.zeros(len(x), F)
    kernels(name, 1)(given, y, np.array([len(x)], np.int32))
    np.testing.assert_array_equal(y, np.array(expected, F))
    numbers = ~np.isnan(y)
    np.testing.assert_array_equal(
        np.signbit(y[numbers]), np.signbit(np.array(expected, F)[numbers])
    )


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.0, 0.0, 1.0),
        (NAN, 0.0, 1.0),
        (1.0, NAN, 1.0),
        (-2.0, 3.0, -8.0),
        (-2.0, 2.0, 4.0),
        (-2.0, 0.5, NAN),
        (0.0, -1.0, INF),
        (-0.0, -1.0, -INF),
        (INF, -2.0, 0.0),
        (-INF, 3.0, -INF),
        (0.5, INF, 0.0),
        (2.0, -INF, 0.0),
        (-1.0, INF, 1.0),
    ],
)
def test_pow_follows_ieee(
    kernels: Callable[[str, int], HostKernel], x: float, y: float, expected: float
) -> None:
    out = np.zeros(1, F)
    kernels("pow", 2)(np.array([x], F), np.array([y], F), out, np.array([1], np.int32))
    np.testing.assert_array_equal(out, np.array([expected], F))


def test_parts_of_numbers() -> None:
    x = np.array([0.0, 1.0, -3.5, 1e-40, INF, 8.0], F)
    fraction, exponent, scaled, whole = (np.zeros(6, t) for t in (F, np.int32, F, F))
    rest, following = np.zeros(6, F), np.zeros(6, F)
    HostKernel(
        PRELUDE + "kernel void k(device float* x, device float* f, device int* e, device float* s,"
        " device float* w, device float* r, device float* n) { for (int i = 0; i < 6; i++) {"
        " int p; f[i] = frexp(x[i], p); e[i] = p; s[i] = ldexp(f[i], p); float q;"
        " r[i] = modf(x[i], q); w[i] = q; n[i] = nextafter(x[i], INFINITY); } }",
        "k",
    )(x, fraction, exponent, scaled, whole, rest, following)
    np.testing.assert_array_equal(fraction, np.frexp(x)[0])
    np.testing.assert_array_equal(exponent[:4], np.frexp(x)[1][:4])
    np.testing.assert_array_equal(scaled, x)
    np.testing.assert_array_equal(whole, np.modf(x)[1])
    np.testing.assert_array_equal(rest, np.modf(x)[0])
    np.testing.assert_array_equal(following, np.nextafter(x, F(INF)))

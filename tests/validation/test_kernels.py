"""The kernels of the validation compute what they say, so that what is timed is real work."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.resources.memory import zeroed
from assay.sim.simt import Memory, dispatch
from benchmarks.validation import chains
from benchmarks.validation.attention_rows import forward, transform
from benchmarks.validation.gemm_rows import Block, gemm, mfa, plain
from benchmarks.validation.launches import Buffer, Scalars, Scratch, Size, kernel_text, size

Argument = np.ndarray | Scratch
ONE = np.float32(1).view("uint32")


def run(source: str, kernel: str, arguments: list[Argument], groups: Size, threads: Size) -> None:
    """Run to the end; arrays are changed in place."""
    program = compile_library(source).function(kernel).program()
    memory, addresses, rooms = Memory(), [], []
    for argument in arguments:
        if isinstance(argument, Scratch):
            addresses.append(argument.bytes)
            continue
        room = zeroed("test", argument.nbytes, argument.nbytes, 0)
        room[:] = argument.reshape(-1).view(np.uint8)
        addresses.append(memory.register(room, name="buffer"))
        rooms.append((argument, room))
    dispatch(program.specialise(threads), memory, addresses, threadgroups=groups)
    for argument, room in rooms:
        argument.reshape(-1).view(np.uint8)[:] = room


def random(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("precision", "kernel", "block", "shape"),
    [
        pytest.param("FP32", "staged", (64, 64, 16, 2, 2), (128, 64, 48), marks=pytest.mark.slow),
        ("FP32", "staged", (32, 32, 16, 2, 2), (40, 50, 20)),
        pytest.param("FP16", "staged", (48, 48, 24, 2, 2), (96, 48, 72), marks=pytest.mark.slow),
        ("FP16", "direct", (64, 64, 16, 4, 1), (64, 128, 64)),
    ],
)
def test_blocked_products_are_the_product(
    precision: str, kernel: str, block: tuple[int, ...], shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    bm, bn, bk, rows, columns = block
    described = Block(m=bm, n=bn, k=bk, rows=rows, columns=columns, kernel=kernel)
    launch = gemm(precision, described, m, n, k, accumulate="float")
    dtype = "float32" if precision == "FP32" else "float16"
    a, b, c = random(m, k, dtype=dtype), random(k, n, dtype=dtype), np.zeros((m, n), dtype)

    run(
        launch.source,
        launch.kernel,
        [a, b, c, np.array((*shape, ONE), "uint32")],
        launch.threadgroups,
        launch.threads,
    )

    expected = a.astype("float64") @ b.astype("float64")
    np.testing.assert_allclose(c.astype("float64"), expected, rtol=2e-2, atol=0.05)


@pytest.mark.parametrize("edge", [96, pytest.param(90, marks=pytest.mark.slow)])
def test_factors_that_become_floats_give_the_same_product(edge: int) -> None:
    block = Block(m=32, n=32, k=16, widened=True)
    launch = gemm("FP16", block, edge, edge, edge)
    a, b = random(edge, edge, dtype="float16"), random(edge, edge, dtype="float16")[::-1].copy()
    c = np.zeros((edge, edge), "float16")
    shape = np.array((edge, edge, edge, ONE), "uint32")

    run(launch.source, launch.kernel, [a, b, c, shape], launch.threadgroups, launch.threads)

    np.testing.assert_allclose(c, a.astype("float32") @ b.astype("float32"), rtol=2e-2, atol=0.05)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("precision", "block", "edge", "transposed"),
    [
        pytest.param("FP32", (48, 48, 24), 96, "NN", marks=pytest.mark.slow),
        ("FP32", (48, 48, 24), 97, "NN"),
        pytest.param("FP16", (48, 48, 32), 120, "NT", marks=pytest.mark.slow),
        ("FP16", (32, 32, 32), 101, "TN"),
        ("FP32", (32, 32, 32), 72, "TT"),
    ],
)
@pytest.mark.parametrize("back", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_products_as_mfa_forms_them(
    precision: str, block: tuple[int, int, int], edge: int, transposed: str, back: bool
) -> None:
    m, n, k = block
    chosen = Block(m=m, n=n, k=k)
    launch = mfa(precision, chosen, edge, transposed=transposed, copies_back=back)
    dtype = "float32" if precision == "FP32" else "float16"
    a, b = random(edge, edge, dtype=dtype), random(edge, edge, dtype=dtype)[::-1].copy()
    c, shape = np.zeros((edge, edge), dtype), np.array((edge, edge, edge), "uint32")

    run(launch.source, launch.kernel, [a, b, c, shape], launch.threadgroups, launch.threads)

    left = (a.T if transposed[0] == "T" else a).astype("float64")
    right = (b.T if transposed[1] == "T" else b).astype("float64")
    np.testing.assert_allclose(c.astype("float64"), left @ right, rtol=5e-2, atol=0.1)


def test_bfloats_of_mfa_are_widened_by_their_bits() -> None:
    edge = 48
    launch = mfa("BF16", Block(m=48, n=48, k=32), edge)
    a, b = (np.round(random(edge, edge) * 4) / 4 for _ in range(2))
    as_bits = [(x.astype("float32").view("uint32") >> 16).astype("uint16") for x in (a, b)]
    c, shape = np.zeros((edge, edge), "uint16"), np.array((edge, edge, edge), "uint32")

    run(launch.source, launch.kernel, [*as_bits, c, shape], launch.threadgroups, launch.threads)

    found = (c.astype("uint32") << 16).view("float32")
    np.testing.assert_allclose(found, a @ b, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("kernel", ["naive", "tiled"])
def test_plain_products_are_the_product(kernel: str) -> None:
    launch = plain("FP32", kernel, 128)
    a, b, c = random(128, 128), random(128, 128)[::-1].copy(), np.zeros((128, 128), "float32")
    shape = np.array((128, 128, 128, ONE), "uint32")

    run(launch.source, kernel, [a, b, c, shape], launch.threadgroups, launch.threads)

    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def quantised(kind: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(blocks as bytes, the weights that they stand for)."""
    rng = np.random.default_rng(3)
    if kind == 16:
        weights = rng.standard_normal((rows, columns)).astype("float16")
        return weights.reshape(-1).view("uint8"), weights.astype("float64")
    scales = (rng.random((rows, columns // 32, 1)) + 0.5).astype("float16")
    if kind == 8:
        quants = rng.integers(-127, 128, (rows, columns // 32, 32))
        packed = quants.astype("int8").view("uint8")
    else:
        quants = rng.integers(-8, 8, (rows, columns // 32, 32))
        nibbles = (quants + 8).astype("uint8")
        packed = nibbles[..., :16] | (nibbles[..., 16:] << 4)
    blocks = np.concatenate([scales.view("uint8").reshape(rows, -1, 2), packed], axis=2)
    return blocks.reshape(-1), (quants * scales.astype("float64")).reshape(rows, columns)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(16, marks=pytest.mark.slow), 8, pytest.param(4, marks=pytest.mark.slow)],
)
def test_quantised_weights_times_vectors(kind: int) -> None:
    blocks, weights = quantised(kind, 64, 128)
    vectors = random(32, 128)
    source = kernel_text("llama", WEIGHTS=kind)
    shape = np.array((64, 128, 32, 4), "uint32")

    many = np.zeros((32, 64), "float32")
    run(source, "matmul", [blocks, vectors, many, shape], size(1, 1), size(128))
    one = np.zeros(64, "float32")
    kernel = {16: "matvec_f16", 8: "matvec_q8", 4: "matvec_q4"}[kind]
    groups, threads = (size(64), size(32)) if kind == 16 else (size(8), size(64))
    run(source, kernel, [blocks, vectors[0], one, shape], groups, threads)

    expected = vectors.astype("float64") @ weights.T
    scale = float(np.abs(expected).max())
    np.testing.assert_allclose(many, expected, atol=2e-3 * scale)
    np.testing.assert_allclose(one, expected[0], atol=1e-4 * scale)


@pytest.mark.parametrize(
    ("tree", "kernel"), [(True, "softmax"), (False, "softmax"), (False, "softmax_short")]
)
def test_softmax_of_rows(tree: bool, kernel: str) -> None:
    macros = {"T": "float"} | ({"TREE": "1"} if tree else {})
    x, y = random(3, 512), np.zeros((3, 512), "float32")

    run(
        kernel_text("rows", **macros), kernel, [x, y, np.array([512], "uint32")], size(3), size(128)
    )

    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7)


def test_sums_of_everything() -> None:
    x, y = random(4 * 4 * 64 * 2), np.zeros(2, "float32")

    run(kernel_text("rows"), "sum_all", [x, y, np.array([4], "uint32")], size(2), size(64))

    assert y.sum() == pytest.approx(x.sum(dtype="float64"), abs=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("precision", "width", "staged"),
    [
        pytest.param("FP32", 64, False, marks=pytest.mark.slow),
        ("FP32", 64, True),
        pytest.param("FP16", 128, True, marks=pytest.mark.slow),
    ],
)
def test_attention_forward(precision: str, width: int, staged: bool) -> None:
    dtype = "float32" if precision == "FP32" else "float16"
    q, k, v = (random(64, width, dtype=dtype) for _ in range(3))
    k, v = np.roll(k, 1, 0), np.roll(v, 2, 0)
    out = np.zeros((64, width), dtype)
    launch = forward(precision, width, staged=staged)

    run(launch.source, "attention", [q, k, v, out, np.array([64], "uint32")], size(2, 1), size(128))

    scores = q.astype("float64") @ k.T.astype("float64") / np.sqrt(width)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = shares / shares.sum(axis=1, keepdims=True) @ v.astype("float64")
    np.testing.assert_allclose(out.astype("float64"), expected, atol=1e-2)


@pytest.mark.parametrize(
    ("points", "radix"),
    [
        (256, 8),
        pytest.param(512, 8, marks=pytest.mark.slow),
        (2048, 8),
        pytest.param(4096, 4, marks=pytest.mark.slow),
    ],
)
def test_fourier_transforms(points: int, radix: int) -> None:
    launch = transform(points, 2, radix)
    x = (random(2, points) + 1j * random(2, points)[::-1]).astype("complex64")
    y = np.zeros_like(x)

    run(launch.source, "fft", [x, y], launch.threadgroups, launch.threads)

    np.testing.assert_allclose(y, np.fft.fft(x), atol=2e-2)


def _instructions(name: str, steps: int) -> int:
    made = chains.instruction(name, 1, steps)
    program = compile_library(made.text).function("chains").program()
    return sum(len(block.body) for block in program.function.blocks)


@pytest.mark.slow
def test_no_step_of_the_tables_is_folded_into_others() -> None:
    # With so many steps, functions of mathematics are called: each call is an instruction.
    for name in (*chains.STEPS, "BITWISE32"):
        assert _instructions(name, 48) - _instructions(name, 24) >= 24, name


@pytest.mark.parametrize("name", ["FADD32", "IADD32", "ICMPSEL32", "BITWISE32", "FMAX32"])
def test_a_step_of_a_chain_is_not_folded_into_others(name: str) -> None:
    assert _instructions(name, 24) - _instructions(name, 12) >= 12


def test_layers_of_a_transformer() -> None:
    source = kernel_text("llama", WEIGHTS=16)
    x, y, z = random(2, 256), random(2, 256), np.zeros((2, 256), "float32")
    width = np.array([256], "uint32")

    run(source, "rms_norm", [x, z, width], size(2), size(64))
    np.testing.assert_allclose(
        z, x / np.sqrt((x.astype("float64") ** 2).mean(axis=1, keepdims=True) + 1e-5), rtol=1e-4
    )
    run(source, "silu", [x, z], size(1), size(128))
    np.testing.assert_allclose(z, x / (1 + np.exp(-x.astype("float64"))), rtol=1e-4, atol=1e-6)
    scale = np.array([0.5], "float32")
    run(source, "softmax", [x, y, width, scale], size(2), size(64))
    e = np.exp(0.5 * x.astype("float64"))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-4)


def test_scalars_and_buffers_say_what_they_hold() -> None:
    assert Scalars(values=(1, 2)).bytes_of() == b"\x01\0\0\0\x02\0\0\0"
    assert Buffer(bytes=16).fill is None

"""Kernels of the foundry as Assay modules: what they give is what the kernels give themselves."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from assay.assay_module import load_assay
from assay.compiler.models.errors import ModelError
from assay.foundry import (
    FoundryError,
    Kernel,
    Standalone,
    build_module,
    custom,
    format_of,
    library,
    output,
    per_element,
    sized,
    struct,
    tensor,
    updated,
)
from assay.foundry.products import striped
from assay.foundry.types import float3, half, uchar, uint
from assay.hal.module.file import read_module
from assay.hal.module.records import NONE, Call, Check, Place
from assay.hal.status import StatusError

ROWS, COLUMNS = 32, 128


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture(scope="module")
def split_k() -> tuple[Callable[..., Any], dict[str, Any]]:
    """A product in two kernels, and its weights."""
    weights = format_of("q8_0").pack(numbers(ROWS, COLUMNS))
    made = striped(format_of("q8_0"), ROWS, half, slices=3, groups=4)
    return made, {"matrix": weights.matrix, "scales": weights.scales}


def test_a_product_in_two_kernels_is_one_call_with_a_workspace_of_the_sizes(
    split_k: tuple[Callable[..., Any], dict[str, Any]],
) -> None:
    product, weights = split_k
    data = build_module(product, x=sized(half, "m", COLUMNS), **weights)
    items = read_module(data).module.models[0].regions[0].instructions
    (call,) = [item for item in items if isinstance(item, Call)]
    assert call.workspace != NONE and len(call.threadgroups) == 6
    context = load_assay(data).new_context()
    held = []
    for seed, m in enumerate((1, 40, 7, 7, 7, 70, 1)):
        x = numbers(m, COLUMNS, seed=seed, dtype=np.float16)
        assert context(x).tobytes() == product(x=x, **weights).tobytes()
        held.append(context.memory.workspaces)
    assert held == sorted(held) and held[0] < held[1] < held[-1]
    assert held[-1] < 1.3 * 4 * 3 * 70 * ROWS + 256


def test_within_bounds_results_are_planned_and_threads_share_the_module(
    split_k: tuple[Callable[..., Any], dict[str, Any]],
) -> None:
    product, weights = split_k
    data = build_module(product, x=sized(half, "m", COLUMNS), dims={"m": "1..48"}, **weights)
    places = [tensor.place for tensor in read_module(data).module.models[0].tensors]
    assert places == [Place.INPUT, Place.WEIGHT, Place.WEIGHT, Place.PLANNED]
    module = load_assay(data)
    with pytest.raises(StatusError, match=r"m \(1\.\.48\)"):
        module(numbers(49, COLUMNS, dtype=np.float16))

    def work(seed: int) -> bool:
        given = [numbers(seed + n, COLUMNS, seed=n, dtype=np.float16) for n in (1, 17, 30, 17)]
        return all(module(x).tobytes() == product(x=x, **weights).tobytes() for x in given)

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(work, range(2)))


def test_a_function_of_kernels_is_a_module_with_names_of_its_results() -> None:
    norm, soft, best = library.rms_norm(), library.softmax(), library.argmax()
    weight = numbers(40)

    def whole(x: Any) -> dict[str, Any]:
        scores = soft(x=norm(x=x, weight=weight))
        return {"scores": scores, "best": best(x=scores)}

    data = build_module(whole, x=sized(float, "rows", 40), name="tail", dims={"rows": "0..40"})
    context = load_assay(data).new_context()
    assert context.outputs == ("scores", "best")
    for rows in (1, 9, 0, 33):
        x = numbers(rows, 40, seed=rows)
        found = context(x)
        if rows:
            expected = whole(x)
            assert np.array_equal(found[0], expected["scores"])
            assert np.array_equal(found[1], expected["best"])
        assert found[1].shape == (rows,)


def test_attention_in_two_passes_takes_any_tokens_and_any_capacity_of_its_cache() -> None:
    size, f16 = 32, format_of("f16")
    parts = library.attention(size, f16, half, splits=2)
    merge = library.attention_merge(size, half)

    def attention(q: Any, keys: Any, values: Any, positions: Any, sequences: Any) -> Any:
        made = parts(q=q, keys=keys, values=values, positions=positions, sequences=sequences)
        return merge(parts=made)

    data = build_module(
        attention,
        q=sized(half, "tokens", 4, size),
        keys=sized(uchar, 1, "capacity", 2, 2 * size),
        values=sized(uchar, 1, "capacity", 2, 2 * size),
        positions=sized(int, "tokens"),
        sequences=sized(uint, "tokens"),
        dims={"tokens": "1..8"},
    )
    context = load_assay(data).new_context()
    for tokens, capacity in ((1, 5), (3, 64), (1, 200), (8, 17)):
        q = numbers(tokens, 4, size, dtype=np.float16)
        cache = [
            numbers(1, capacity, 2, size, seed=seed, dtype=np.float16).view(np.uint8)
            for seed in (1, 2)
        ]
        positions = np.full(tokens, capacity - 1, np.int32)
        given = (q, *cache, positions, np.zeros(tokens, np.uint32))
        assert context(*given).tobytes() == attention(*given).tobytes()


def test_all_sizes_of_a_product_may_vary_and_other_choices_are_refused() -> None:
    product = library.matmul()
    data = build_module(product, a=sized(float, "m", "k"), b=sized(float, "k", "n"))
    module = load_assay(data)
    for m, k, n in ((3, 5, 7), (65, 64, 63), (1, 1, 1)):
        a, b = numbers(m, k), numbers(k, n)
        assert np.array_equal(module(a, b), product(a=a, b=b))
    with pytest.raises(StatusError, match="k"):
        module(numbers(2, 3), numbers(4, 2))


@struct
class Scale:
    factor: float
    count: uint
    offset: float3
    flag: bool


SCALE = """
kernel void scale(const device float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant Scale* scale [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    if (at < scale->count)
        y[at] = x[at] * scale->factor + (scale->flag ? scale->offset[at % 3] : 0);
}
"""


def scaling(**arguments: Any) -> Kernel:
    made = {"x": tensor(float), "y": output(float, "x"), "scale": Scale, **arguments}
    return Kernel(Standalone(SCALE, "scale", made), grid=per_element("x"))


def test_structs_are_passed_as_they_are_laid_out_with_sizes_in_them() -> None:
    kernel = scaling()

    def scaled(x: Any) -> Any:
        return kernel(x=x, scale=Scale(factor=2.5, count=x.size, offset=(1, 2, 3), flag=True))

    module = load_assay(build_module(scaled, x=sized(float, "n")))
    for n in (1, 300, 5):
        assert np.array_equal(module(numbers(n)), scaled(numbers(n)))


def test_what_python_code_asks_of_sizes_is_checked_when_the_module_runs() -> None:
    def groups(given: Any) -> tuple[int]:
        if given["x"].size % 4:
            raise ValueError("fours are needed")
        return (given["x"].size // 4,)

    made = {"x": tensor(float), "y": output(float, "x"), "scale": Scale}
    kernel = Kernel(Standalone(SCALE, "scale", made), grid=custom(groups, (4,)))

    def scaled(x: Any) -> Any:
        return kernel(x=x, scale=Scale(factor=2, count=x.size, offset=(0, 0, 0), flag=False))

    data = build_module(scaled, x=sized(float, "n"))
    items = read_module(data).module.models[0].regions[0].instructions
    assert isinstance(items[0], Check)
    module = load_assay(data)
    assert np.array_equal(module(numbers(8)), 2 * numbers(8))
    with pytest.raises(StatusError, match=r"sizes with \(n % 4\) == 0"):
        module(numbers(7))
    assert np.array_equal(module(numbers(12)), 2 * numbers(12))
    bounded = build_module(scaled, x=sized(float, "n"), dims={"n": "4..64:4"})
    assert np.array_equal(load_assay(bounded)(numbers(64)), 2 * numbers(64))


X = sized(float, "n")
FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "an argument too many": (lambda: build_module(library.softmax(), x=X, z=1), "z is not asked"),
    "an argument too few": (
        lambda: build_module(lambda x: library.swiglu()(gate=x), x=X),
        "no value for up",
    ),
    "another type": (
        lambda: build_module(library.softmax(), x=sized(half, "n")),
        "x is float16; it takes arrays of float32",
    ),
    "an output that is an input": (lambda: build_module(lambda x: x, x=X), "no kernel was called"),
    "an output that is no array": (
        lambda: build_module(lambda x: library.softmax()(x=x) and 3, x=X),
        "output 1 is int",
    ),
    "a size as a number": (
        lambda: build_module(lambda x: library.softmax()(x=np.zeros(x.shape[0])), x=X),
        "n is used as a number",
    ),
    "memory that changes": (
        lambda: build_module(
            Kernel(
                Standalone(
                    "kernel void add(device float* x [[buffer(0)]]) { x[0] += 1; }",
                    "add",
                    {"x": updated(float)},
                ),
                grid=per_element("x"),
            ),
            x=X,
        ),
        "it changes x",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_no_module_can_be_is_told(name: str) -> None:
    build, said = FAULTS[name]
    with pytest.raises(FoundryError, match=said):
        build()


def test_bounds_of_no_size_are_told() -> None:
    with pytest.raises(ModelError, match="no input has a size m; named are n"):
        build_module(library.softmax(), x=X, dims={"m": "1..4"})

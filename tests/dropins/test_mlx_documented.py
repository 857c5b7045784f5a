"""The examples of MLX's page on custom kernels, and what its own tests ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mx = pytest.importorskip(
    "mlx.core", reason="MLX is not installed: pip install 'assay-emulator[mlx]'"
)

from assay.mlx import metal_kernel  # noqa: E402  after the skip

EXPONENTIAL = """
    uint elem = thread_position_in_grid.x;
    T value = inp[elem];
    out[elem] = metal::exp(value);
"""
STRIDED = """
    uint elem = thread_position_in_grid.x;
    uint place = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    T value = inp[place];
    out[elem] = metal::exp(value);
"""


def exponential(a: Any, source: str = EXPONENTIAL, **options: Any) -> Any:
    kernel = metal_kernel(
        name="myexp", input_names=["inp"], output_names=["out"], source=source, **options
    )
    (result,) = kernel(
        inputs=[a],
        template=[("T", mx.float32)],
        grid=(a.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[a.shape],
        output_dtypes=[a.dtype],
    )
    return result


def once(source: str, a: Any, *, name: str = "k", out: Any = None, **options: Any) -> Any:
    """Runs a body over each element of `a`, called inp, into an output of its shape, or of out."""
    kernel = metal_kernel(
        name=name, input_names=["inp"], output_names=["out"], source=source, **options
    )
    target = a if out is None else out
    (result,) = kernel(
        inputs=[a],
        grid=(a.size, 1, 1),
        threadgroup=(a.size, 1, 1),
        output_shapes=[target.shape],
        output_dtypes=[target.dtype],
        stream=mx.cpu,
    )
    return result


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32])
def test_the_first_example_computes_exponentials(dtype: Any) -> None:
    a = mx.random.normal(shape=(4, 16)).astype(dtype)
    b = exponential(a)
    assert b.dtype == dtype
    assert mx.allclose(b, mx.exp(a))


@pytest.mark.parametrize(
    "layout",
    [lambda a: a[::2], lambda a: a.T, lambda a: mx.broadcast_to(a[:1], (3, 16))],
    ids=["every second row", "transposed", "broadcast"],
)
def test_arrays_of_any_layout_are_read_through_their_strides(layout: Any) -> None:
    a = layout(mx.random.normal(shape=(4, 16)).astype(mx.float16))
    assert mx.allclose(exponential(a, STRIDED, ensure_row_contiguous=False), mx.exp(a))


def test_arrays_that_run_backwards_are_read_from_their_first_element_down() -> None:
    a = mx.arange(12, dtype=mx.float32)[::-1]
    source = """
        int64_t elem = thread_position_in_grid.x;
        out[elem] = inp[elem_to_loc(elem, inp_shape, inp_strides, inp_ndim)];
    """
    assert mx.array_equal(once(source, a, ensure_row_contiguous=False), a)


def test_inputs_are_made_row_contiguous_unless_told_otherwise() -> None:
    a = mx.arange(12, dtype=mx.float32).reshape(3, 4).T
    mx.eval(a)
    source = "out[thread_position_in_grid.x] = inp[thread_position_in_grid.x];"
    assert mx.array_equal(once(source, a), a)
    assert mx.array_equal(
        once(source, a, ensure_row_contiguous=False).reshape(-1), mx.arange(12, dtype=mx.float32)
    )


def test_grid_sample_forward_gives_what_mlx_gives() -> None:
    from .mlx_grid_sample import grid_sample, reference

    mx.random.seed(1)
    x = mx.random.normal(shape=(2, 6, 5, 8))
    grid = mx.random.uniform(-1.2, 1.2, shape=(2, 3, 4, 2))
    assert mx.allclose(grid_sample(x, grid), reference(x, grid), atol=1e-5)


def test_grid_sample_backward_gives_the_gradients_of_mlx() -> None:
    from .mlx_grid_sample import grid_sample, reference

    mx.random.seed(2)
    x = mx.random.normal(shape=(2, 6, 5, 8))
    grid = mx.random.uniform(-1.2, 1.2, shape=(2, 3, 4, 2))
    cotangent = mx.random.normal(shape=(2, 3, 4, 8))

    def gradients(function: Any) -> Any:
        return mx.grad(lambda a, b: (function(a, b) * cotangent).sum(), argnums=(0, 1))(x, grid)

    for got, expected in zip(gradients(grid_sample), gradients(reference), strict=True):
        assert mx.allclose(got, expected, atol=1e-4)


def test_derivatives_that_nobody_gave_are_refused_and_not_zero() -> None:
    a = mx.random.normal(shape=(4,))
    with pytest.raises(ValueError, match="'myexp' has no derivative; call it in a function with"):
        mx.grad(lambda x: exponential(x).sum())(a)
    with pytest.raises(ValueError, match="'myexp' has no derivative"):
        mx.jvp(exponential, [a], [a])


@pytest.mark.parametrize("transformation", ["compile", "vmap"])
def test_transformations_that_need_no_values_are_refused_by_mlx(transformation: str) -> None:
    with pytest.raises(ValueError, match="eval an array during function transformations"):
        getattr(mx, transformation)(exponential)(mx.ones((4,)))


def test_arguments_may_be_arrays_small_arrays_numbers_and_template_values() -> None:
    mx.random.seed(7)
    a = mx.random.normal(shape=(3, 6))
    c = mx.random.normal(shape=(2, 2)).astype(mx.bfloat16)
    kernel = metal_kernel(
        name="arg_test",
        input_names=["a", "b", "c", "d"],
        output_names=["out1", "out2"],
        source="""
            uint elem = thread_position_in_grid.x;
            T first = a[0];
            out1[elem] = e ? a[1] + b[2] + c[3] + d + f : float(first);
            out2[elem] = a[1] + b[2] + c[1] - d;
        """,
    )
    first, second = kernel(
        inputs=[a, mx.array([3, 4, 5]), c, 7.3],
        template=[("e", True), ("f", 3), ("T", mx.float16)],
        grid=(6, 1, 1),
        threadgroup=(2, 1, 1),
        output_shapes=[(3, 2), (3, 2)],
        output_dtypes=[mx.float32, mx.int32],
    )
    expected = a[0, 1] + 5 + c[1, 1].astype(mx.float32) + 7.3 + 3
    assert mx.allclose(first, mx.broadcast_to(expected, (3, 2)))
    whole = int((a[0, 1] + 5 + c[0, 1].astype(mx.float32) - 7.3).item())
    assert second.dtype == mx.int32 and mx.array_equal(second, mx.full((3, 2), whole))


def test_functions_of_the_header_can_be_called() -> None:
    a = mx.random.normal(shape=(2, 2))
    out = once(
        "out[thread_position_in_grid.x] = do_exp(inp[thread_position_in_grid.x]);",
        a,
        header="template <typename T> T do_exp(T x) { return metal::precise::exp(x); }",
    )
    assert mx.allclose(out, mx.exp(a))


def test_threadgroups_are_no_larger_than_the_grid() -> None:
    kernel = metal_kernel(
        name="size",
        input_names=["a"],
        output_names=["out"],
        source="out[0] = threads_per_threadgroup.x; out[1] = threads_per_simdgroup;",
    )
    (out,) = kernel(
        inputs=[mx.zeros(shape=(1, 1))],
        grid=(2, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(2,)],
        output_dtypes=[mx.uint32],
    )
    assert out.tolist() == [2, 32]


def test_kernels_of_one_name_with_different_bodies_are_different_kernels() -> None:
    a = mx.arange(32, dtype=mx.float32)
    first = once("uint e = thread_position_in_grid.x; out[e] = inp[e] * 2.0f;", a, name="dup")
    second = once("uint e = thread_position_in_grid.x; out[e] = inp[e] + 100.0f;", a, name="dup")
    assert mx.array_equal(first, a * 2) and mx.array_equal(second, a + 100)


def test_one_kernel_serves_arrays_of_several_types() -> None:
    kernel = metal_kernel(
        name="mixed",
        input_names=["inp"],
        output_names=["out"],
        source="uint e = thread_position_in_grid.x; out[e] = inp[e] + inp[e];",
    )
    for a in (mx.full((32,), 1.5, dtype=mx.float16), mx.full((32,), 2.5), mx.arange(32)):
        (out,) = kernel(
            inputs=[a],
            grid=(32, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[a.shape],
            output_dtypes=[a.dtype],
        )
        assert out.dtype == a.dtype and mx.array_equal(out, a + a)


@pytest.mark.parametrize(("mode", "fast"), [("safe", 0.0), ("fast", 1.0)])
def test_the_math_mode_reaches_the_compiler(mode: str, fast: float) -> None:
    source = """
        #if defined(__FAST_MATH__) && __FAST_MATH__
        out[thread_position_in_grid.x] = 1.0f;
        #else
        out[thread_position_in_grid.x] = 0.0f;
        #endif
    """
    out = once(source, mx.zeros((4,)), compile_options={"math_mode": mode})
    assert out.tolist() == [fast] * 4


def test_complex_numbers_are_two_components() -> None:
    a = mx.array(np.array([1 + 2j, 3 - 1j], np.complex64))
    out = once("uint e = thread_position_in_grid.x; out[e] = inp[e] * inp[e] + 1.0f;", a)
    assert np.allclose(np.array(out), np.array(a) ** 2 + 1)

"""metal_kernel with NumPy arrays, which needs no MLX: types, memory, helpers, errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.launch import LaunchError
from assay.mlx import metal_kernel

COPY = "out[thread_position_in_grid.x] = inp[thread_position_in_grid.x];"
TYPES = [
    np.bool_,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.complex64,
]


def call(source: str, a: Any, **arguments: Any) -> Any:
    kernel = metal_kernel(
        name="k",
        input_names=["inp"],
        output_names=["out"],
        source=source,
        header=arguments.pop("header", ""),
        ensure_row_contiguous=arguments.pop("ensure_row_contiguous", True),
    )
    settings: dict[str, Any] = {
        "inputs": [a],
        "grid": (max(a.size, 1), 1, 1),
        "threadgroup": (32, 1, 1),
        "output_shapes": [a.shape],
        "output_dtypes": [a.dtype],
        **arguments,
    }
    (out,) = kernel(**settings)
    return out


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_element_type_goes_in_and_comes_out(dtype: Any) -> None:
    a = np.arange(10).astype(dtype)
    out = call(COPY, a)
    assert isinstance(out, np.ndarray) and out.dtype == a.dtype and np.array_equal(out, a)


def test_numbers_and_lists_have_the_types_that_mlx_gives_them() -> None:
    kernel = metal_kernel(
        name="k",
        input_names=["b", "i", "f", "l"],
        output_names=["out"],
        source="""
            static_assert(is_same_v<decltype(b), const constant bool&>);
            static_assert(is_same_v<decltype(i), const constant int&>);
            static_assert(is_same_v<decltype(f), const constant float&>);
            static_assert(is_same_v<decltype(l), const constant float*>);
            out[0] = b * i + f + l[1] + thread_position_in_grid.x;
        """,
    )
    (out,) = kernel(
        inputs=[True, 3, 0.5, [1.0, 2.0]],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
        output_shapes=[(1,)],
        output_dtypes=[np.float32],
    )
    assert out.tolist() == [5.5]


def test_arrays_of_doubles_come_as_float_as_mlx_makes_them() -> None:
    out = call(COPY, np.arange(9.0), output_dtypes=[np.float32])
    assert out.tolist() == list(range(9))


def test_the_memory_of_strided_inputs_is_used_where_it_is() -> None:
    whole = np.arange(24, dtype=np.float32)
    a = whole.reshape(4, 6)[::2, 1::2]
    source = """
        int64_t e = thread_position_in_grid.x;
        out[e] = inp[elem_to_loc(e, inp_shape, inp_strides, inp_ndim)];
    """
    assert np.array_equal(call(source, a, ensure_row_contiguous=False), a)


def test_read_only_inputs_can_be_read() -> None:
    a = np.arange(9, dtype=np.float32)
    a.flags.writeable = False
    assert np.array_equal(call(COPY, a), a)


def test_inputs_without_elements_are_null() -> None:
    out = call("out[0] = inp == nullptr;", np.empty(0, np.float32), output_shapes=[(1,)])
    assert out.tolist() == [1.0]


def test_an_empty_grid_does_nothing() -> None:
    assert call(COPY, np.ones(4, np.int32), grid=(0, 1, 1), init_value=7).tolist() == [7] * 4


def test_outputs_begin_with_the_initial_value() -> None:
    out = call(
        "if (thread_position_in_grid.x == 1) out[1] = 5;", np.zeros(3, np.int32), init_value=2
    )
    assert out.tolist() == [2, 5, 2]


@pytest.mark.parametrize(("dtype", "expected"), [(np.int32, -1), (np.uint8, 255), (np.bool_, True)])
def test_outputs_that_are_not_set_do_not_pass_for_zeros(dtype: Any, expected: Any) -> None:
    assert call("if (inp[0]) out[0] = 0;", np.zeros(3, dtype)).tolist() == [expected] * 3
    assert np.isnan(call("if (inp[0]) out[0] = 0;", np.zeros(3, np.float16))).all()


def test_outputs_may_be_atomic() -> None:
    kernel = metal_kernel(
        name="histogram",
        input_names=["inp"],
        output_names=["out"],
        source="""
            atomic_fetch_add_explicit(&out[inp[thread_position_in_grid.x]], 1,
                                      memory_order_relaxed);
        """,
        atomic_outputs=True,
    )
    a = np.random.default_rng(3).integers(0, 8, 1000).astype(np.uint8)
    (out,) = kernel(
        inputs=[a],
        grid=(1000, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(8,)],
        output_dtypes=[np.int32],
        init_value=0,
    )
    assert np.array_equal(out, np.bincount(a, minlength=8))


def test_the_helpers_that_mlx_offers_are_there() -> None:
    source = """
        uint lane = thread_index_in_simdgroup;
        const float x = inp[lane];
        float value = ceildiv(7, 2) == 4 && ceildiv(8u, 4u) == 2;
        value += log1p(1e-8f) == 1e-8f;
        value += float(Limits<bfloat16_t>::max) == INFINITY && Limits<int>::min == INT_MIN;
        int64_t next = simd_shuffle_down(int64_t(lane) << 40, 1);
        value += next == int64_t(lane < 31 ? lane + 1 : 31) << 40;
        value += simd_shuffle_up(complex64_t(x, -x), 1).imag == -inp[lane ? lane - 1 : 0];
        value += cast_to<bool>(complex64_t(0, 1));
        value += uint16_to_bfloat16(bfloat16_to_uint16(2)) == 2;
        value += is_same_v<ConditionalType<true, int, float>::type, int>;
        value += WorkPerThread<half>::n == 4;
        out[lane] = value;
    """
    out = call(source, np.arange(32, dtype=np.float32))
    assert out.tolist()[1:31] == [9.0] * 30


def test_a_mistake_in_the_body_is_shown_at_its_line_of_the_body() -> None:
    with pytest.raises(RuntimeError, match="Unable to build metal library") as caught:
        call("\n    float x = 1;\n    out[0] = y;\n", np.zeros(3, np.float32))
    lines = str(caught.value).splitlines()
    assert lines[1] == "k.source:3:14: error: use of undeclared identifier 'y'"
    assert lines[2:] == ["    out[0] = y;", "             ^"]


def test_a_mistake_in_the_header_is_shown_at_its_line_of_the_header() -> None:
    with pytest.raises(RuntimeError, match=r"k\.header:2:24: error: use of undeclared"):
        call(COPY, np.zeros(3, np.float32), header="// two\nint two() { return 2 * a; }\n")
    with pytest.raises(RuntimeError, match=r"k\.header:1:10: fatal error: 'none.h' file not found"):
        call(COPY, np.zeros(3, np.float32), header='#include "none.h"\n')


def test_a_fault_is_told_with_the_array_and_the_line() -> None:
    with pytest.raises(LaunchError, match=r"k\.source:1:\d+: out-of-bounds read .* of inp"):
        call("out[0] = inp[thread_position_in_grid.x + 10];", np.zeros(12, np.float32))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": []}, "Expected `inputs` to have size 1 but got size 0"),
        ({"output_shapes": []}, "Expected `output_shapes` to have size 1 but got size 0"),
        ({"output_dtypes": [np.float64]}, "float64 is not a type of Metal kernels"),
        ({"output_dtypes": ["nothing"]}, "'nothing' is no element type"),
        ({"inputs": [object()]}, r"object is not a type of Metal kernels.*\(input 'inp'\)"),
        ({"template": [("T", 2.5)]}, "Invalid template argument.*'T' is 2.5"),
        ({"threadgroup": (2048, 1, 1)}, r"Thread group size \(2048\) is greater than"),
        ({"grid": (3, 1)}, r"Expected `grid` to be three sizes .*, but got \(3, 1\)"),
        ({"grid": (3, -1, 1)}, "Expected `grid`"),
        ({"threadgroup": (0, 1, 1)}, "Expected `threadgroup`"),
    ],
)
def test_calls_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(COPY, np.zeros(3, np.float32), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_names": []}, "at least one output"),
        ({"name": "my kernel"}, "'my kernel' becomes part of a function's name"),
        ({"input_names": ["a", "a"]}, "'a' becomes an argument"),
        ({"input_names": ["1a"]}, "'1a' becomes an argument"),
        ({"compile_options": {"math_mode": "precise"}}, "'safe', 'relaxed', or 'fast'"),
        ({"compile_options": {"unknown": "x"}}, "Unknown compile option `unknown`"),
        ({"compile_options": ["fast"]}, "Expected `compile_options` to be a dict"),
    ],
)
def test_kernels_that_cannot_be_are_refused(arguments: dict[str, Any], message: str) -> None:
    settings: dict[str, Any] = {
        "name": "k",
        "input_names": ["a"],
        "output_names": ["out"],
        "source": COPY,
        **arguments,
    }
    with pytest.raises(ValueError, match=message):
        metal_kernel(**settings)


def test_verbose_calls_print_the_kernel_as_generated(capsys: pytest.CaptureFixture[str]) -> None:
    source = "out[0] = inp_shape[0] + inp_ndim + N + thread_position_in_grid.x;"
    call(
        source,
        np.zeros((3, 4), np.float16),
        template=[("N", -3), ("T", ml_dtypes.bfloat16)],
        grid=(1, 1, 1),
        verbose=True,
    )
    name = "custom_kernel_k_m3_bfloat16_t_float16_t_float16_t"
    whole = f"{name}<-3, bfloat16_t>"
    assert capsys.readouterr().out == (
        f"""Generated source code for `k`:
```
template <int N, typename T>
[[kernel]] void {name}(
  const device float16_t* inp [[buffer(0)]],
  const constant int* inp_shape [[buffer(1)]],
  const constant int& inp_ndim [[buffer(2)]],
  device float16_t* out [[buffer(3)]],
  uint3 thread_position_in_grid [[thread_position_in_grid]]) {{
{source}
}}

template [[host_name("{name}")]] [[kernel]] decltype({whole}) {whole};

```
"""
    )


def test_dispatches_see_the_device_that_was_configured_last() -> None:
    from assay.hal.metal.emulated import DeviceOptions, configure

    kernel = metal_kernel(name="k", input_names=["inp"], output_names=["out"], source=COPY)
    for chip in ("m2", "m1"):
        configure(DeviceOptions(chip=chip))
        (out,) = kernel(
            inputs=[np.ones(3, np.float32)],
            grid=(3, 1, 1),
            threadgroup=(3, 1, 1),
            output_shapes=[(3,)],
            output_dtypes=[np.float32],
        )
        assert out.tolist() == [1.0] * 3
    configure(DeviceOptions())

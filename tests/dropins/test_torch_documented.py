"""The example of torch.mps.compile_shader's page, and what PyTorch's own tests ask of it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'assay-emulator[torch]'"
)

from assay.torch import compile_shader  # noqa: E402  after the skip

HEADERS = [
    "atomic",
    "common",
    "error",
    "expm1f",
    "igamma",
    "indexing",
    "random",
    "reduction_utils",
    "special_math",
    "utils",
]


def test_the_documented_example_fills_a_tensor() -> None:
    library = compile_shader(
        "kernel void full(device float* out, constant float& val, "
        "uint idx [[thread_position_in_grid]]) { out[idx] = val; }"
    )
    x = torch.zeros(16)
    library.full(x, 3.14)
    assert torch.equal(x, torch.full((16,), 3.14))


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8]
)
def test_there_are_as_many_threads_as_the_first_tensor_has_elements(dtype: Any) -> None:
    name = {
        torch.float32: "float",
        torch.float16: "half",
        torch.bfloat16: "bfloat",
        torch.int32: "int",
        torch.int64: "long",
        torch.int8: "char",
    }[dtype]
    library = compile_shader(
        f"kernel void arange(device {name}* x, uint i [[thread_position_in_grid]]) {{ x[i] = i; }}"
    )
    x = torch.empty(3, 4, dtype=dtype)
    library.arange(x)
    assert torch.equal(x, torch.arange(12).to(dtype).reshape(3, 4))


def test_grids_may_have_three_dimensions() -> None:
    library = compile_shader("""
        kernel void index(device int* x, constant long3& size,
                          uint3 i [[thread_position_in_grid]]) {
            x[i.x + size.x * (i.y + size.y * i.z)] = i.x + 10 * i.y + 100 * i.z;
        }""")
    x = torch.zeros(2, 3, 4, dtype=torch.int32)
    library.index(x, [4, 3, 2, 0], threads=(4, 3, 2), group_size=(2, 2, 2))
    expected = [c + 10 * b + 100 * a for a, b, c in itertools.product(range(2), range(3), range(4))]
    assert x.flatten().tolist() == expected
    x.zero_()
    library.index(x, [4, 3, 2, 0], threads=[4, 3, 2])
    assert x.flatten().tolist() == expected


ARANGE = """
    template <typename T, typename S>
    kernel void arange(device T* x, constant S& start, constant S& step,
                       uint i [[thread_position_in_grid]]) { x[i] = start + i * step; }
    template [[host_name("float")]] kernel decltype(arange<float, float>) arange<float, float>;
    template [[host_name("long")]] kernel decltype(arange<int, long>) arange<int, long>;
    template [[host_name("int")]] kernel decltype(arange<int, int>) arange<int, int>;
    template [[host_name("half")]] kernel decltype(arange<float, half>) arange<float, half>;
    template [[host_name("bfloat")]] kernel decltype(arange<float, bfloat>) arange<float, bfloat>;
    template [[host_name("uchar")]] kernel decltype(arange<int, uchar>) arange<int, uchar>;
"""


@pytest.mark.parametrize(
    ("kernel", "casts"),
    [
        ("long", None),
        ("int", "int32"),
        ("int", {1: "int32", 2: "int32"}),
        ("uchar", "uint8"),
        ("half", "fp16"),
        ("bfloat", {1: "bf16", 2: "bf16"}),
    ],
)
def test_numbers_are_wide_unless_they_are_cast(kernel: str, casts: Any) -> None:
    library = compile_shader(ARANGE)
    x = torch.zeros(5, dtype=torch.float32 if "f" in kernel else torch.int32)
    getattr(library, kernel)(x, 1, 2, arg_casts=casts)
    assert x.tolist() == [1, 3, 5, 7, 9]


def test_fractions_are_single_precision_and_tensors_may_be_scalars() -> None:
    library = compile_shader(ARANGE)
    x = torch.zeros(4)
    library.float(x, 0.5, torch.tensor(0.25))
    assert x.tolist() == [0.5, 0.75, 1.0, 1.25]


def test_lists_of_numbers_are_arrays() -> None:
    library = compile_shader("""
        kernel void dot(device float* x, constant long* a, constant float* b, constant half* c) {
            x[0] = a[0] * b[0] + a[1] * b[1] + c[2];
        }""")
    x = torch.zeros(1)
    library.dot(x, (2, 3), [0.5, 0.25], [1.0, 2.0, 4.0], arg_casts={3: "fp16"})
    assert x.item() == 2 * 0.5 + 3 * 0.25 + 4


def test_lists_of_tensors_are_argument_buffers() -> None:
    library = compile_shader("""
        struct Inputs { metal::array<device float*, 40> tensors; };
        kernel void sum(device float* out, constant Inputs& in,
                        uint i [[thread_position_in_grid]]) {
            float total = 0;
            for (int k = 0; k < 40; ++k) total += in.tensors[k][i];
            out[i] = total;
        }""")
    base = torch.rand(41, 12)
    tensors = [base[k + 1] for k in range(20)] + [torch.rand(12) for _ in range(20)]
    out = torch.zeros(12)
    library.sum(out, tensors)
    assert torch.allclose(out, torch.stack(tensors).sum(0))


def test_views_begin_at_their_first_element_and_are_written_where_they_lie() -> None:
    library = compile_shader("""
        kernel void scale(device half* x, constant half& by, constant long2& strides,
                          uint2 i [[thread_position_in_grid]]) {
            x[i.x * strides.x + i.y * strides.y] *= by;
        }""")
    whole = torch.arange(30, dtype=torch.float16).reshape(5, 6)
    factors = torch.tensor([1, 2, 3], dtype=torch.float16)
    view = whole[1::2, 1:4]
    expected = whole.clone()
    expected[1::2, 1:4] *= 2
    # The constant begins two bytes into its storage.
    library.scale(view, factors[1], [*view.stride()], threads=view.shape)
    assert torch.equal(whole, expected)


def test_the_functions_and_their_properties_can_be_asked_for() -> None:
    library = compile_shader("""
        using namespace metal;
        kernel void one(device float* x) { x[0] = 1; }
        [[max_total_threads_per_threadgroup(64)]]
        kernel void two(device float* x, uint i [[thread_index_in_threadgroup]]) {
            threadgroup float t[16];
            t[i % 16] = i;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            x[i] = t[i % 16];
        }""")
    assert sorted(dir(library)) == ["one", "two"]
    assert library.one.max_threads_per_threadgroup == 1024
    assert library.one.thread_execution_width == 32
    assert library.one.static_thread_group_memory_length == 0
    assert library.two.max_threads_per_threadgroup == 64
    assert library.two.static_thread_group_memory_length == 64


@pytest.mark.parametrize("header", HEADERS)
def test_the_headers_that_come_with_pytorch_can_be_included(header: str) -> None:
    library = compile_shader(
        f"#include <c10/metal/{header}.h>\nkernel void one(device float* x) {{ x[0] = 1; }}"
    )
    x = torch.zeros(1)
    library.one(x)
    assert x.item() == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", ["erfinv", "log_gamma", "digamma", "sinc", "i0", "i1e", "erf", "entr"]
)
def test_pytorch_s_special_functions_give_what_pytorch_gives(name: str) -> None:
    library = compile_shader(f"""
        #include <c10/metal/special_math.h>
        kernel void apply(device float* out, constant float* x,
                          uint i [[thread_position_in_grid]]) {{
            out[i] = c10::metal::{name}(x[i]);
        }}""")
    x = torch.linspace(0.05, 0.95, 50)
    out = torch.empty_like(x)
    library.apply(out, x)
    reference = {"log_gamma": "gammaln"}.get(name, name)
    assert torch.allclose(out, getattr(torch.special, reference)(x), rtol=1e-5, atol=1e-5)


def test_pytorch_s_reductions_over_a_threadgroup_give_sums_and_places_of_maxima() -> None:
    library = compile_shader("""
        #include <c10/metal/reduction_utils.h>
        kernel void reduce(device float* total, device long* place, constant float* x,
                           uint i [[thread_index_in_threadgroup]],
                           uint n [[threads_per_threadgroup]]) {
            threadgroup float sums[c10::metal::simdgroup_size];
            threadgroup float values[c10::metal::simdgroup_size];
            threadgroup long indices[c10::metal::simdgroup_size];
            *total = c10::metal::threadgroup_sum(sums, x[i], i, n);
            *place = c10::metal::threadgroup_argmax(values, indices, x[i], long(i), i, n);
        }""")
    x = torch.rand(200)
    total, place = torch.zeros(1), torch.zeros(1, dtype=torch.int64)
    library.reduce(total, place, x, threads=200, group_size=200)
    assert torch.allclose(total, x.sum()) and place.item() == x.argmax()


def test_kernels_in_the_manner_of_inductor_run_with_grids_of_two_dimensions() -> None:
    """A softmax over rows: a threadgroup for each, two reductions, loops for long rows."""
    library = compile_shader("""
        #include <c10/metal/reduction_utils.h>
        #include <c10/metal/special_math.h>
        #include <c10/metal/utils.h>
        [[max_total_threads_per_threadgroup(1024)]]
        kernel void generated_kernel(device half* out_ptr0, constant half* in_ptr0,
                                     constant long& ks0,
                                     uint2 thread_pos [[thread_position_in_grid]],
                                     uint2 group_pos [[thread_position_in_threadgroup]],
                                     uint2 group_size [[threads_per_threadgroup]]) {
            const auto x0 = thread_pos.x, r0_index = thread_pos.y;
            threadgroup float tmp_acc_0[c10::metal::simdgroup_size];
            threadgroup float tmp_acc_1[c10::metal::simdgroup_size];
            float tmp0 = -HUGE_VALF;
            for (auto r = r0_index; r < ks0; r += group_size.y)
                tmp0 = ::c10::metal::max(tmp0, static_cast<float>(in_ptr0[r + ks0 * x0]));
            const auto tmp1 = c10::metal::threadgroup_max(tmp_acc_0, tmp0, group_pos.y,
                                                          group_size.y);
            float tmp2 = 0;
            for (auto r = r0_index; r < ks0; r += group_size.y)
                tmp2 += metal::exp(static_cast<float>(in_ptr0[r + ks0 * x0]) - tmp1);
            const auto tmp3 = c10::metal::threadgroup_sum(tmp_acc_1, tmp2, group_pos.y,
                                                          group_size.y);
            for (auto r = r0_index; r < ks0; r += group_size.y)
                out_ptr0[r + ks0 * x0] = static_cast<half>(
                    metal::exp(static_cast<float>(in_ptr0[r + ks0 * x0]) - tmp1) / tmp3);
        }""")
    x = torch.randn(5, 1500).half()
    out = torch.empty_like(x)
    library.generated_kernel(out, x, 1500, threads=[5, 1024], group_size=[1, 1024])
    assert torch.allclose(out.float(), x.float().softmax(1), rtol=2e-3, atol=1e-6)


def test_pytorch_s_atomics_add_small_types_too() -> None:
    library = compile_shader("""
        #include <c10/metal/atomic.h>
        template <typename T>
        kernel void add(device c10::metal::AtomicType_t<T>* out, constant T* values,
                        uint i [[thread_position_in_grid]]) {
            c10::metal::AtomicType<T>::atomic_add(out, i % 3, values[i]);
        }
        template [[host_name("half")]] kernel decltype(add<half>) add<half>;
        template [[host_name("char")]] kernel decltype(add<char>) add<char>;
        template [[host_name("float")]] kernel decltype(add<float>) add<float>;""")
    for name, dtype in (("half", torch.float16), ("char", torch.int8), ("float", torch.float32)):
        values = torch.arange(12).to(dtype)
        out = torch.zeros(4, dtype=dtype)
        getattr(library, name)(out, values, threads=12)
        assert out.tolist() == [18, 22, 26, 0]


def test_errors_that_a_kernel_reports_are_raised() -> None:
    library = compile_shader("""
        #include <c10/metal/error.h>
        kernel void check(device float* x, device c10::metal::ErrorMessages* errors,
                          uint i [[thread_position_in_grid]]) {
            if (x[i] > 5) TORCH_REPORT_ERROR(errors, "Index ", long(x[i]), " out of range");
        }""")
    library.check(torch.tensor([1.0, 2.0]), error_buf_idx=1)
    with pytest.raises(RuntimeError, match=r"Index 7 out of range \(check at shader:5\)"):
        library.check(torch.tensor([1.0, 7.0]), error_buf_idx=1)

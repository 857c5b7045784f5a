"""Metal 4's tensors and the operations on them, from source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.compiler.msl import CompileError, compile_library
from assay.sim.simt import Memory, dispatch

HEAD = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""
Array = NDArray[np.generic]


def run(
    source: str, arrays: list[Array], simdgroups: int, groups: tuple[int, int] = (1, 1)
) -> None:
    """Run the kernel `k` of a source with these buffers, which it changes."""
    program = compile_library(HEAD + source, file_name="k.metal").function("k").program()
    memory = Memory()
    places = [memory.register(x.reshape(-1).view(np.uint8), name="x") for x in arrays]
    size = (32 * simdgroups, 1, 1)
    grid = (size[0] * groups[0], groups[1], 1)
    dispatch(program.specialise(size), memory, places, threads=grid)


def whole(random: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    return random.integers(-5, 6, shape).astype(kind)


@pytest.mark.parametrize(
    ("kind", "dtype", "result", "simdgroups", "left", "right"),
    [
        ("half", "float16", "float", 2, False, False),
        pytest.param("float", "float32", "float", 1, True, True, marks=pytest.mark.slow),
        pytest.param("char", "int8", "int", 4, False, True, marks=pytest.mark.slow),
        pytest.param("half", "float16", "half", 2, True, False, marks=pytest.mark.slow),
    ],
)
def test_slices_of_tensors_are_multiplied_up_to_their_edges(
    kind: str, dtype: str, result: str, simdgroups: int, left: bool, right: bool
) -> None:
    m, n, k = 41, 21, 27
    random = np.random.default_rng(3)
    a, b = whole(random, (m, k), dtype), whole(random, (k, n), dtype)
    c = np.zeros((m, n), {"float": "float32", "int": "int32", "half": "float16"}[result])
    flags = f"{str(left).lower()}, {str(right).lower()}"
    a_shape, a_at = (f"{m}, {k}", "tg.y * 32, 0") if left else (f"{k}, {m}", "0, tg.y * 32")
    b_shape, b_at = (f"{k}, {n}", "0, tg.x * 16") if right else (f"{n}, {k}", "tg.x * 16, 0")
    source = f"""
kernel void k(device {kind}* a, device {kind}* b, device {result}* c,
              uint2 tg [[threadgroup_position_in_grid]]) {{
  using shape = dextents<int32_t, 2>;
  auto A = tensor<device {kind}, shape, tensor_inline>(a, shape({a_shape}));
  auto B = tensor(b, dextents<int, 2>{{{b_shape}}});
  tensor<device {result}, dextents<int, 2>, tensor_inline> C(c, dextents<int, 2>({n}, {m}));
  constexpr auto how = matmul2d_descriptor(32, 16, dynamic_extent, {flags});
  matmul2d<how, execution_simdgroups<{simdgroups}>> op;
  auto left = A.slice({a_at});
  auto right = B.slice({b_at});
  auto sums = op.get_destination_cooperative_tensor<decltype(left), decltype(right), {result}>();
  op.run(left, right, sums);
  sums.store(C.slice(tg.x * 16, tg.y * 32));
}}"""
    given = [np.ascontiguousarray(x) for x in (a.T if left else a, b.T if right else b)]
    run(source, [*given, c], simdgroups, (2, 2))
    np.testing.assert_array_equal(c, a.astype(c.dtype) @ b.astype(c.dtype))


@pytest.mark.slow
def test_a_product_is_added_to_a_tensor_in_memory() -> None:
    random = np.random.default_rng(4)
    a, b, c = (whole(random, shape, "float32") for shape in ((16, 24), (24, 32), (16, 32)))
    before = c.copy()
    source = """
kernel void k(device float* a, device float* b, device float* c) {
  auto A = tensor(a, extents<int, 24, 16>());
  auto B = tensor(b, extents<int, 32, 24>());
  auto C = tensor(c, dextents<int, 2>(32, 16), array<int, 2>{1, 32});
  constexpr auto how = matmul2d_descriptor(16, 32, 24, false, false, false,
                                           matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<how, execution_simdgroup> op;
  op.run(A, B, C);
}"""
    run(source, [a, b, c], 1)
    np.testing.assert_array_equal(c, before + a @ b)


def test_a_result_in_registers_is_reduced_and_multiplied_again() -> None:
    random = np.random.default_rng(5)
    q, k, v = (whole(random, (16, 16), "float32") for _ in range(3))
    out, most, sums = (np.zeros(shape, np.float32) for shape in ((16, 16), 16, 16))
    source = """
kernel void k(device float* q, device float* k, device float* v, device float* out,
              device float* most, device float* sums) {
  auto Q = tensor(q, extents<int, 16, 16>());
  auto K = tensor(k, extents<int, 16, 16>());
  auto V = tensor(v, extents<int, 16, 16>());
  matmul2d<matmul2d_descriptor(16, 16, 16, false, true), execution_simdgroup> scores_of;
  matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup> values_of;
  using square = decltype(Q);
  auto scores = scores_of.get_destination_cooperative_tensor<square, square, float>();
  scores_of.run(Q, K, scores);
  auto rows =
      scores_of.get_row_reduction_destination_cooperative_tensor<square, square, float>();
  auto columns =
      scores_of.get_column_reduction_destination_cooperative_tensor<square, square, float>();
  using identity = reduction_operation_identity<float>;
  reduce_rows(scores, rows, reduction_operation::max, identity::max_identity);
  reduce_columns(scores, columns);
  for (auto it = rows.begin(); it != rows.end(); ++it) {
    most[it.get_multidimensional_index()[0]] = *it;
  }
  columns.store(tensor(sums, extents<int, 16>()));
  if (is_iterator_compatible(scores, rows)) {
    for (auto it = scores.begin(); it != scores.end(); it++) *it -= *rows.map_iterator(it);
  }
  if (!values_of.is_compatible_as_left_input<float, float, float>(scores)) return;
  auto weights = values_of.get_left_input_cooperative_tensor<float, float, float>(scores);
  using left = decltype(weights);
  auto result = values_of.get_destination_cooperative_tensor<left, square, float>();
  values_of.run(weights, V, result);
  result.store(tensor(out, dextents<int, 2>(16, 16)));
}"""
    run(source, [q, k, v, out, most, sums], 1)
    scores = q @ k.T
    np.testing.assert_array_equal(most, scores.max(axis=1))
    np.testing.assert_array_equal(sums, scores.sum(axis=0))
    np.testing.assert_array_equal(out, (scores - scores.max(axis=1, keepdims=True)) @ v)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["left", "right"])
def test_one_operand_may_be_in_registers_and_the_other_in_memory(which: str) -> None:
    random = np.random.default_rng(9)
    a, b = whole(random, (16, 32), "float32"), whole(random, (32, 32), "float32")
    c = np.zeros((16, 32), np.float32)
    operands = "own, B" if which == "left" else "A, own"
    source = f"""
kernel void k(device float* a, device float* b, device float* c) {{
  auto A = tensor(a, extents<int, 32, 16>());
  auto B = tensor(b, extents<int, 32, 32>());
  matmul2d<matmul2d_descriptor(16, 32, 32), execution_simdgroup> op;
  auto own = op.get_{which}_input_cooperative_tensor<float, float, float>();
  own.load({"A" if which == "left" else "B"});
  auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
  op.run({operands}, sums);
  sums.store(tensor(c, extents<int, 32, 16>()));
}}"""
    run(source, [a, b, c], 1)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.slow
def test_a_thread_alone_multiplies_and_reads_elements() -> None:
    random = np.random.default_rng(6)
    a, b, c = (whole(random, (3, 3), "float32") for _ in range(3))
    source = """
kernel void k(device float* a, device float* b, device float* c) {
  auto A = tensor(a, extents<int, 3, 3>()), B = tensor(b, extents<int, 3, 3>());
  auto C = tensor(c, extents<int, 3, 3>());
  matmul2d<matmul2d_descriptor(3, 3, 3), execution_thread> op;
  op.run(A, B, C);
  C[2, 0] += A[1, 0] * float(A.get_extent(0));
}"""
    run(source, [a, b, c], 1)
    expected = a @ b
    expected[0, 2] += a[0, 1] * 3
    np.testing.assert_array_equal(c[1:], expected[1:])


@pytest.mark.slow
def test_tensors_are_convolved() -> None:
    random = np.random.default_rng(7)
    x, w = whole(random, (9, 9, 5), "float16"), whole(random, (3, 3, 5, 16), "float16")
    out = np.zeros((4, 4, 16), np.float32)
    source = """
kernel void k(device half* x, device half* w, device float* out) {
  auto X = tensor(x, dextents<int, 4>(5, 9, 9, 1));
  auto W = tensor(w, dextents<int, 4>(16, 5, 3, 3));
  auto to = tensor(out, dextents<int, 4>(16, 4, 4, 1));
  constexpr auto how = convolution2d_descriptor(
      int4(16, 4, 4, 1), int4(5, 9, 9, 1), int2(3, 3), convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout::hwio, int2(2, 2));
  convolution2d<how, execution_simdgroups<2>> op;
  op.set_offsets(int2(1, 1));
  op.run(X, W, to);
}"""
    run(source, [x, w, out], 2)
    for row, column in np.ndindex(4, 4):
        window = x[2 * row :, 2 * column :][:3, :3].astype(np.float32)
        expected = np.einsum("yxc,yxco->o", window, w.astype(np.float32))
        np.testing.assert_array_equal(out[row, column], expected)


def test_operands_in_registers_of_several_simdgroups_are_refused() -> None:
    source = """
kernel void k(device float* c) {
  matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroups<2>> op;
  auto a = op.get_left_input_cooperative_tensor<float, float, float>();
  auto b = op.get_right_input_cooperative_tensor<float, float, float>();
  auto sums = op.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  op.run(a, b, sums);
  c[0] = sums[0];
}"""
    with pytest.raises(CompileError, match="operands in registers are of a single simdgroup"):
        compile_library(HEAD + source, file_name="k.metal").function("k").program()


def test_a_tensor_that_the_host_binds_is_told_with_its_rank_and_elements() -> None:
    source = """kernel void k(tensor<const device half, dextents<int, 3>> a [[buffer(2)]],
                 tensor<device bfloat, extents<int, 4, 8>> b) {}"""
    a, b = compile_library(HEAD + source, file_name="k.metal").function("k").arguments
    assert (a.kind, a.index, a.rank, a.data_type, a.access) == ("tensor", 2, 3, 16, "read")
    assert (b.kind, b.index, b.rank, b.data_type, b.access) == ("tensor", 0, 2, 121, "read_write")


@pytest.mark.slow
def test_the_kernel_of_the_reference_multiplies() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "msl.md"
    block = page.read_text().partition("```cpp\n#include <metal_tensor>\n")[2].partition("```")[0]
    random = np.random.default_rng(8)
    a, b = whole(random, (70, 20), "float16"), whole(random, (20, 40), "float16")
    c, sizes = np.zeros((70, 40), np.float32), np.array([70, 40, 20, 0], np.int32)
    run(block.replace("kernel void gemm", "kernel void k"), [a, b, c, sizes], 4, (2, 2))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))

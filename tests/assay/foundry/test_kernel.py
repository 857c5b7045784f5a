"""Standalone kernels are called with arrays, under the structs and formats declared in Python."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.compiler.msl import CompileError
from assay.foundry import (
    FoundryError,
    Kernel,
    Standalone,
    custom,
    dynamic,
    format_of,
    output,
    per_element,
    per_row,
    simdgroup_per_row,
    struct,
    tensor,
    updated,
)
from assay.foundry.types import bfloat, half, uchar, uint, uint2, ulong
from assay.launch import LaunchError

SCALE = """
// No struct here: ScaleParams is put in front.
[[kernel]] void scale(
    const device half* input [[buffer(0)]],
    device half* output [[buffer(1)]],
    constant ScaleParams* params [[buffer(2)]],
    uint3 gid [[threadgroup_position_in_grid]],
    uint3 lid [[thread_position_in_threadgroup]],
    uint3 tptg [[threads_per_threadgroup]]
) {
    const uint at = gid.x * tptg.x + lid.x;
    if (at < params->count) {
        output[at] = half(float(input[at]) * params->factor);
    }
}
"""


@struct
class ScaleParams:
    count: uint
    factor: float


def scale_kernel(source: str | Path = SCALE, **changed: Any) -> Kernel:
    arguments = {"input": tensor(half), "output": output(half, "input"), "params": ScaleParams}
    declared = Standalone(source, "scale", {**arguments, **changed})
    return Kernel(declared, grid=per_element("input"))


X = np.linspace(-2, 2, 1000).astype(np.float16).reshape(10, 100)


def test_a_call_returns_the_output_in_its_shape() -> None:
    made = scale_kernel()(input=X, params=ScaleParams(count=1000, factor=3.0))
    assert made.shape == X.shape
    assert np.array_equal(made, (X.astype(np.float32) * 3).astype(np.float16))


def test_dynamic_fields_are_given_by_the_call() -> None:
    waiting = ScaleParams(count=dynamic("n"), factor=2.0)
    made = scale_kernel()(input=X, params=waiting, n=500).reshape(-1)
    assert np.array_equal(made[:500], (X.reshape(-1)[:500] * 2))
    assert np.isnan(made[500:]).all()
    with pytest.raises(FoundryError, match=r'scale: params\.count waits for a value of "n"'):
        scale_kernel()(input=X, params=waiting)


NEGATE = (
    "kernel void negate(const device bfloat* x [[buffer(0)]], device bfloat* y [[buffer(1)]],"
    " uint i [[thread_position_in_grid]]) { y[i] = -x[i]; }"
)


def negate() -> Kernel:
    declared = Standalone(NEGATE, "negate", {"x": tensor(bfloat), "y": output(bfloat, "x")})
    return Kernel(declared, grid=per_element("x", threads=4))


def test_tensors_of_torch_are_taken_by_dlpack_bfloat16_too() -> None:
    torch = pytest.importorskip("torch")
    params = ScaleParams(count=1000, factor=-1.0)
    assert np.array_equal(scale_kernel()(input=torch.from_numpy(X), params=params), -X)
    turned = torch.from_numpy(np.ascontiguousarray(X.T)).T
    assert np.array_equal(scale_kernel()(input=turned, params=params), -X)
    numbers = torch.arange(8, dtype=torch.bfloat16)
    assert negate()(x=numbers[::2]).tolist() == [0, -2, -4, -6]
    with pytest.raises(FoundryError, match=r"negate: x .* cannot be read: .*grad"):
        negate()(x=torch.nn.Parameter(numbers))


def test_arrays_of_mlx_are_taken_by_dlpack_bfloat16_too() -> None:
    mlx = pytest.importorskip("mlx.core")
    made = scale_kernel()(input=mlx.array(X), params=ScaleParams(count=1000, factor=-1.0))
    assert np.array_equal(made, -X)
    numbers = mlx.arange(4).astype(mlx.bfloat16)
    assert negate()(x=numbers).tolist() == [0, -1, -2, -3]


def test_a_kernel_is_checked_and_timed_with_the_same_values() -> None:
    kernel, params = scale_kernel(), ScaleParams(count=1000, factor=1.0)
    assert not kernel.check(input=X, params=params).findings
    beyond = kernel.check(input=X, params=ScaleParams(count=1024, factor=1.0))
    assert {finding.check for finding in beyond.findings} == {"bounds"}
    assert kernel.time(chip="m4-max", input=X, params=params).seconds > 0


def test_an_output_that_is_read_before_it_is_written_is_found() -> None:
    source = (
        "kernel void add(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]])"
        " { y[i] += 1; }"
    )
    declared = Standalone(source, "add", {"y": output(float, (8,))})
    kernel = Kernel(declared, grid=per_element("y", threads=8))
    assert {finding.check for finding in kernel.check().findings} == {"init"}


def test_a_buffer_that_is_updated_comes_back_changed_and_the_given_one_stays() -> None:
    source = (
        "kernel void add(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]])"
        " { y[i] += 1; }"
    )
    declared = Standalone(source, "add", {"y": updated(float)})
    kernel = Kernel(declared, grid=per_element("y", threads=8))
    y = np.arange(8, dtype=np.float32)
    assert np.array_equal(kernel(y=y), np.arange(1, 9))
    assert np.array_equal(y, np.arange(8))
    assert not kernel.check(y=y).findings


def test_a_fault_ends_the_call() -> None:
    with pytest.raises(LaunchError, match="input"):
        scale_kernel()(input=X, params=ScaleParams(count=1024, factor=1.0))


@pytest.mark.parametrize(
    "twice",
    [
        "struct ScaleParams { uint count; float factor; };",
        "struct ScaleParams\n{\n    uint count;\n};",
        "struct alignas(16) ScaleParams { uint count; };",
        "struct __attribute__((packed)) ScaleParams { uint count; };",
        "struct ScaleParams : Base { uint count; };",
        "union ScaleParams { uint count; float factor; };",
        "typedef struct { uint count; } ScaleParams;",
        "typedef struct Other { uint window[4]; } Other, ScaleParams;",
        "using ScaleParams = Other;",
        "#define ScaleParams Other",
    ],
)
def test_a_struct_that_the_source_defines_too_is_refused_by_the_rule_s_name(twice: str) -> None:
    with pytest.raises(
        FoundryError, match=r"scale\.metal:3 defines ScaleParams.*\[struct-injected\]"
    ):
        scale_kernel(f"// One.\n/* two */\n{twice}\n{SCALE}")


@pytest.mark.parametrize(
    "once",
    [
        "// struct ScaleParams { in words };",
        "struct ScaleParams;",
        "struct Other { uint count; };\nuint of(constant struct ScaleParams& p) { return 1; }",
        "struct ScaleParamsOfOthers { uint count; };",
        "constant ScaleParams* none = nullptr;",
    ],
)
def test_a_struct_that_the_source_only_names_is_not_refused(once: str) -> None:
    assert scale_kernel(f"{once}\n{SCALE}").declared.library


def test_a_struct_in_a_file_that_is_included_is_named_there(tmp_path: Path) -> None:
    (tmp_path / "params.h").write_text("#pragma once\n\nstruct ScaleParams { uint count; };\n")
    file = tmp_path / "scale.metal"
    file.write_text('#include "params.h"\n' + SCALE)
    with pytest.raises(FoundryError, match=r"params\.h:3 defines ScaleParams"):
        scale_kernel(file)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"input": tensor(bfloat)}, None),
        ({"input": tensor(float)}, r"input is declared device float, 4 bytes; the kernel has"),
        ({"extra": tensor(half)}, r"argument extra is declared, and the kernel has not"),
    ],
)
def test_arguments_that_are_not_the_kernel_s_are_refused(
    changed: dict[str, Any], message: str | None
) -> None:
    kernel = scale_kernel(**changed)
    if message is None:  # of the same size: reflection tells no more
        assert kernel.declared.library
        return
    with pytest.raises(FoundryError, match=message):
        _ = kernel.declared.library


def test_a_number_of_another_size_than_the_kernel_s_is_refused() -> None:
    source = (
        "kernel void fill(device uint* y [[buffer(0)]], constant uint& n [[buffer(1)]],"
        " uint i [[thread_position_in_grid]]) { y[i] = n; }"
    )
    made = output(uint, (4,))
    grid = per_element("y", threads=4)
    right = Standalone(source, "fill", {"y": made, "n": uint})
    assert Kernel(right, grid=grid)(n=7).tolist() == [7] * 4
    with pytest.raises(FoundryError, match=r"n is declared constant ulong, 8 bytes; the kernel"):
        Kernel(Standalone(source, "fill", {"y": made, "n": ulong}), grid=grid)(n=7)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"params": ScaleParams(count=1, factor=1.0)}, r"scale: there is no value for input"),
        ({"input": X}, r"scale: there is no value for params"),
        ({"input": X, "params": 3}, r"scale: params = 3 is no ScaleParams"),
        (
            {"input": X.astype(np.float32), "params": ScaleParams(count=1, factor=1.0)},
            r"scale: input is float32; it takes arrays of float16",
        ),
        (
            {"input": [1, 2], "params": ScaleParams(count=1, factor=1.0)},
            r"scale: input is list; it takes arrays of float16",
        ),
        (
            {"input": X, "params": ScaleParams(count=1, factor=1.0), "output": X},
            r"scale: output is not asked for; it takes input, params",
        ),
    ],
)
def test_values_that_do_not_fit_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        scale_kernel()(**given)


def test_a_file_brings_what_it_includes_and_errors_name_its_lines(tmp_path: Path) -> None:
    header = "#pragma once\ninline float twice(float x) { return x + x; }\n"
    (tmp_path / "more.h").write_text(header)
    file = tmp_path / "scale.metal"
    twice = SCALE.replace("factor;", "factor + twice(0);")
    file.write_text('#include "more.h"\n#include "more.h"\n' + twice)
    made = scale_kernel(file)(input=X, params=ScaleParams(count=1000, factor=1.0))
    assert np.array_equal(made, X)
    file.write_text(SCALE.replace("params->count", "params->size"))
    with pytest.raises(CompileError, match=r"scale\.metal:12"):
        scale_kernel(file)(input=X, params=ScaleParams(count=1, factor=1.0))
    file.write_text('#include "gone.h"\n' + SCALE)
    with pytest.raises(FoundryError, match=r'scale\.metal:1 includes "gone\.h"'):
        scale_kernel(file)


GEMV = """
kernel void gemv(const device uchar* matrix [[buffer(0)]], const device uchar* scales [[buffer(1)]],
                 const device float* x [[buffer(2)]], device float* y [[buffer(3)]],
                 constant uint2& extent [[buffer(4)]],
                 uint row [[thread_position_in_grid]]) {
    const uint simdgroup = row / 32;
    const uint lane = row % 32;
    if (simdgroup >= extent.y) {
        return;
    }
    float sum = 0;
    for (uint k = lane * 8; k < extent.x; k += 256) {
        float w[8];
        POLICY::load8(matrix, scales, extent.y, extent.x, simdgroup, k, w);
        for (uint i = 0; i < 8; ++i) {
            sum += w[i] * x[k + i];
        }
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        y[simdgroup] = sum;
    }
}
"""


@pytest.mark.parametrize("name", ["q8_0", "q4_k_split", "mlx_affine_4_64", "fp4_128"])
def test_a_product_reads_weights_through_a_policy(name: str) -> None:
    weights = format_of(name)
    random = np.random.default_rng(4)
    packed = weights.pack(random.normal(size=(13, 512)).astype(np.float32))
    x = random.normal(size=512).astype(np.float32)
    byte = tensor(uchar)
    declared = Standalone(
        GEMV.replace("POLICY", weights.policy),
        "gemv",
        {
            "matrix": byte,
            "scales": byte,
            "x": tensor(float),
            "y": output(float, lambda given: (int(given["extent"][1]),)),
            "extent": uint2,
        },
        formats=[weights],
    )
    kernel = Kernel(declared, grid=simdgroup_per_row("y"))
    given = {"matrix": packed.matrix, "scales": packed.scales, "x": x, "extent": (512, 13)}
    expected = weights.unpack(packed) @ x
    assert np.allclose(kernel(**given), expected, rtol=1e-4, atol=1e-3)
    assert not kernel.check(**given).findings


def test_grids_are_known_from_the_values() -> None:
    given = {"x": np.zeros((3, 4, 100)), "y": np.zeros(9)}
    assert per_element("x")(given).threadgroups == (5, 1, 1)
    assert per_row("x", threads=64)(given).threadgroups == (12, 1, 1)
    assert simdgroup_per_row("x")(given).threadgroups == (13, 12, 1)
    mine = custom(lambda each: (each["y"].size, 2), (8, 8))(given)
    assert (mine.threadgroups, mine.threads) == ((9, 2, 1), (8, 8, 1))


def test_bfloat_arrays_are_those_of_ml_dtypes() -> None:
    x = np.array([1, 2, 3, 4], ml_dtypes.bfloat16)
    assert negate()(x=x).tolist() == [-1, -2, -3, -4]

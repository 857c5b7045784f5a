"""What compile_shader and its kernels refuse, in the words of PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'assay-emulator[torch]'"
)

from assay.launch import LaunchError  # noqa: E402  after the skip
from assay.torch import compile_shader  # noqa: E402

FULL = """
kernel void full(device float* x, constant float& v, uint i [[thread_position_in_grid]]) {
    x[i] = v;
}"""


@pytest.mark.parametrize("kind", [SyntaxError, RuntimeError])
def test_a_source_that_does_not_compile_is_a_syntax_error_at_its_line(kind: Any) -> None:
    with pytest.raises(kind, match="Failed to create metal library, error: shader:2:22: error"):
        compile_shader("// one\nkernel void k(device nothing* x) {}")


def test_mistakes_behind_includes_keep_their_lines() -> None:
    source = "#include <c10/metal/utils.h>\n#include <metal_stdlib>\nint f() { return y; }"
    with pytest.raises(SyntaxError, match="shader:3:18: error: use of undeclared identifier 'y'"):
        compile_shader(source)


def test_headers_outside_of_pytorch_are_not_put_in() -> None:
    with pytest.raises(SyntaxError, match=r"shader:1:10: fatal error: .* not found"):
        compile_shader('#include "../../../../../../../../../../etc/hosts"')


def test_kernels_that_are_not_there_are_told() -> None:
    with pytest.raises(RuntimeError, match=r"object for: nothing\nthere is no .* full"):
        _ = compile_shader(FULL).nothing


def test_a_library_is_an_ordinary_object_to_python() -> None:
    library = compile_shader(FULL)
    assert not hasattr(library, "__len__")
    x = torch.zeros(2)
    copy.copy(library).full(x, 1.0)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((12, 1.0), {}, RuntimeError, "Number of threads is undefined"),
        ((None, 1.0), {"threads": 4}, RuntimeError, "argument type.*argument 0 is NoneType"),
        (("x", [None]), {"threads": 4}, RuntimeError, "Unsupported argument type.*0 is str"),
        ((torch.zeros(4), []), {}, RuntimeError, "Empty list/tuple can not be an argument"),
        ((torch.zeros(4), [None]), {}, RuntimeError, "Unexpected argument types.*1 is list"),
        ((torch.zeros(4), [torch.zeros(1), 1]), {}, RuntimeError, "1 has int among its tensors"),
        ((torch.zeros(4), [1, "a"]), {}, RuntimeError, "Unexpected argument types: argument 1"),
        ((torch.zeros(4), 1 << 80), {}, RuntimeError, "Unexpected argument types: argument 1"),
        ((torch.zeros(4), 1.0), {"arg_casts": "int4"}, RuntimeError, "cast instruction int4"),
        ((torch.zeros(4), 1.0), {"arg_casts": 7}, RuntimeError, "Unexpected caster arg type int"),
        ((torch.zeros(4), 1.0), {"group_size": 1025}, ValueError, "exceeds 1024 limit"),
        ((torch.zeros(4), 1.0), {"threads": (3, 9), "group_size": (3, 600)}, ValueError, "exceeds"),
        ((torch.zeros(4), 1.0), {"threads": (2, 2), "group_size": 2}, RuntimeError, "2 dimensions"),
        ((torch.zeros(4), 1.0), {"threads": (1, 1, 1, 1)}, RuntimeError, "one to three numbers"),
        ((torch.zeros(4), 1.0), {"threads": "many"}, RuntimeError, "threads is 'many'"),
        ((torch.zeros(4, dtype=torch.double), 1.0), {}, TypeError, "Metal has no float64"),
        ((torch.zeros(4, device="meta"), 1.0), {}, RuntimeError, "on meta; .* CPU tensors"),
        ((torch.zeros(4).to_sparse(), 1.0), {}, RuntimeError, "layout torch.sparse_coo"),
        ((torch.zeros(4, dtype=torch.cfloat).conj(), 1.0), {}, RuntimeError, "resolve_conj"),
    ],
)
def test_calls_that_do_not_fit_are_refused(
    arguments: Any, options: Any, kind: Any, message: str
) -> None:
    with pytest.raises(kind, match=message):
        compile_shader(FULL).full(*arguments, **options)


def test_arguments_that_are_missing_are_named() -> None:
    with pytest.raises(AssertionError, match=r"argument 'v' \[\[buffer\(1\)\]\]"):
        compile_shader(FULL).full(torch.zeros(4))


def test_accesses_beyond_the_storage_are_told_with_the_tensor_and_the_line() -> None:
    message = r"shader:3:10: out-of-bounds write of 4 bytes at byte 16 of the tensor of argument 0"
    with pytest.raises(LaunchError, match=message):
        compile_shader(FULL).full(torch.zeros(4), 1.0, threads=5)


def test_empty_tensors_run_no_thread() -> None:
    compile_shader(FULL).full(torch.zeros(0), 1.0)


def test_fast_math_is_for_those_who_ask_pytorch_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
        kernel void fast(device bool* x) {
        #ifdef __FAST_MATH__
            x[0] = true;
        #endif
        }"""
    for value, expected in (("0", False), ("1", True)):
        monkeypatch.setenv("PYTORCH_MPS_FAST_MATH", value)
        x = torch.zeros(1, dtype=torch.bool)
        compile_shader(source).fast(x)
        assert x.item() is expected

"""The tinygrad device ASSAY: training, JIT, searches, errors, and how scripts choose it."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tinygrad", reason='needs tinygrad: pip install "assay-emulator[tinygrad]"')

from tinygrad import Context, Device, Tensor, TinyJit, Variable, dtypes, nn
from tinygrad.device import Compiled, CompileError, TinyELF
from tinygrad.helpers import ProfileRangeEvent, Target, cpu_events

import assay.tinygrad
from assay.hal.metal.emulated import checking
from assay.sim.check import Checker, parse_checks
from assay.tinygrad.device import AssayDevice
from assay.tinygrad.program import AssayProgram
from assay.tinygrad.renderer import AssayRenderer

assay.tinygrad.register()

ROOT = Path(__file__).parents[2]
HEADER = "#include <metal_stdlib>\nusing namespace metal;\n"


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    """Tensors are made on ASSAY; kernels are compiled in this process."""
    with Context(DEV="ASSAY", PARALLEL=0):
        yield


def device() -> AssayDevice:
    found = Device["ASSAY"]
    assert isinstance(found, AssayDevice)
    return found


def program(source: str, name: str, **parameters: int) -> AssayProgram:
    """A kernel written by hand; `parameters` name its buffers by their elements."""
    signature = tuple(
        (parameter, slot, dtypes.float32, (size,))
        for slot, (parameter, size) in enumerate(parameters.items())
    )
    lib = device().compiler.compile(HEADER + source)
    return AssayProgram(
        device(), TinyELF(lib=lib, name=name, target=Target("ASSAY"), signature=signature)
    )


def sources(tensor: Tensor) -> list[str]:
    """The kernels that `tensor` needs, as tinygrad renders them for the device."""
    from tinygrad.engine.realize import compile_linear
    from tinygrad.uop.ops import Ops

    linear = compile_linear(tensor.linear_with_vars()[0])
    return [uop.arg for uop in linear.toposort() if uop.op is Ops.SOURCE]


# What is computed


@pytest.mark.parametrize(
    "dtype",
    [
        dtypes.float32,
        pytest.param(dtypes.half, marks=pytest.mark.slow),
        pytest.param(dtypes.bfloat16, marks=pytest.mark.slow),
    ],
)
def test_matrices_are_multiplied_with_tensor_cores(dtype: object) -> None:
    a, b = (Tensor.empty(64, 64, dtype=dtype) for _ in range(2))
    (source,) = sources(a.dot(b, dtype=dtypes.float32))
    assert "simdgroup_multiply_accumulate" in source
    assert source.startswith("#include <metal_stdlib>")


def test_gpus_before_apple7_have_no_tensor_cores() -> None:
    assert AssayRenderer(Target("ASSAY", arch="Apple7")).tensor_cores
    assert not AssayRenderer(Target("ASSAY", arch="Apple6")).tensor_cores


def test_gradients_equal_those_by_hand() -> None:
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8, 3)))
    tensors = Tensor(x), Tensor(w)
    gradients = (tensors[0] @ tensors[1]).tanh().square().sum().gradient(*tensors)
    y = np.tanh(x @ w)
    inner = 2 * y * (1 - y * y)
    for got, expected in zip(gradients, (inner @ w.T, x.T @ inner), strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_random_numbers_repeat_by_seed_and_cover_their_range() -> None:
    draws = []
    for seed in (1, 1, 2):
        Tensor.manual_seed(seed)
        draws.append(Tensor.rand(2000).numpy())
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert 0 <= draws[0].min() < 0.01 < 0.99 < draws[0].max() < 1
    assert abs(draws[0].mean() - 0.5) < 0.03


class LinearNet:
    """The network of tinygrad's README."""

    def __init__(self, first: np.ndarray, second: np.ndarray) -> None:
        self.l1 = Tensor(first)
        self.l2 = Tensor(second)

    def __call__(self, x: Tensor) -> Tensor:
        return x.flatten(1).dot(self.l1).relu().dot(self.l2)


@pytest.mark.slow
def test_the_network_of_the_readme_learns_as_it_does_in_numpy() -> None:
    rng = np.random.default_rng(0)
    weights = [
        rng.uniform(-bound, bound, shape).astype(np.float32)
        for shape, bound in (((784, 128), 0.05), ((128, 10), 0.1))
    ]
    x = rng.random((4, 1, 28, 28), dtype=np.float32)
    y = np.array([2, 4, 3, 7])
    model = LinearNet(*weights)
    optim = nn.optim.SGD([model.l1, model.l2], lr=0.1)
    losses = []
    with Context(TRAINING=1):
        for _ in range(4):
            optim.zero_grad()
            loss = model(Tensor(x)).sparse_categorical_crossentropy(Tensor(y)).backward()
            optim.step()
            losses.append(loss.item())
    expected = learn(x.reshape(4, 784), y, *weights, steps=5, rate=0.1)
    # tinygrad computes a loss when it is asked for, here after the step.
    np.testing.assert_allclose(losses, expected[1:], rtol=1e-4)
    assert losses[-1] < losses[0] / 2


def learn(
    x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray, *, steps: int, rate: float
) -> list[float]:
    """The losses of gradient descent on a perceptron with one hidden layer."""
    w1, w2, losses = w1.astype(np.float64), w2.astype(np.float64), []
    for _ in range(steps):
        hidden = np.maximum(x @ w1, 0)
        scores = hidden @ w2
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances = powers / powers.sum(axis=1, keepdims=True)
        losses.append(float(-np.log(chances[range(len(y)), y]).mean()))
        error = (chances - np.eye(10)[y]) / len(y)
        gradient = x.T @ ((error @ w2.T) * (hidden > 0))
        w2 = w2 - rate * hidden.T @ error
        w1 = w1 - rate * gradient
    return losses


def test_jitted_functions_replay_with_new_data_and_sizes() -> None:
    @TinyJit
    def normed(x: Tensor) -> Tensor:
        return (x / x.square().sum().sqrt()).realize()

    size = Variable("size", 1, 10)
    data = np.arange(1, 11, dtype=np.float32)
    for n in (3, 4, 7, 9):
        got = normed(Tensor(data).contiguous()[: size.bind(n)])[:n].numpy()
        np.testing.assert_allclose(got, data[:n] / np.linalg.norm(data[:n]), rtol=1e-5)


def test_kernels_with_more_inputs_than_metal_has_buffers_are_split() -> None:
    inputs = [Tensor([float(i), 1.0]).realize() for i in range(40)]
    total = inputs[0]
    for each in inputs[1:]:
        total = total + each
    assert total.tolist() == [780.0, 40.0]


@pytest.mark.skipif(
    shutil.which("clang") is None,
    reason="what several devices computed meets on tinygrad's CPU device, which needs clang",
)
def test_several_devices_share_the_work() -> None:
    x = Tensor(np.arange(16, dtype=np.float32)).shard(("ASSAY", "ASSAY:1"), axis=0)
    assert (x * 2).sum().item() == 240.0


@pytest.mark.slow
def test_the_search_for_fast_kernels_finds_one_that_is_right() -> None:
    a = np.random.default_rng(1).random((16, 8), dtype=np.float32)
    x = Tensor(a).realize()
    with Context(BEAM=1, IGNORE_BEAM_CACHE=1):
        np.testing.assert_allclose(x.sum(axis=1).numpy(), a.sum(axis=1), rtol=1e-5)


# Memory


def test_buffers_are_seen_by_host_and_device_alike() -> None:
    tensor = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    view = tensor.uop.buffer.as_memoryview(force_zero_copy=True).cast("f")
    view[0] = 10.0
    assert (tensor + 1).tolist() == [11.0, 3.0, 4.0, 5.0]


def test_pages_of_the_host_become_a_tensor_without_a_copy() -> None:
    numbers = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.float32)
    numbers[:] = np.arange(numbers.size)
    tensor = Tensor.from_blob(numbers.ctypes.data, numbers.shape, dtype=dtypes.float32)
    tensor.assign(tensor + 1).realize()
    device().synchronize()
    assert numbers[:3].tolist() == [1.0, 2.0, 3.0]


def test_host_memory_that_is_no_page_is_refused_with_what_would_do() -> None:
    numbers = np.zeros(8, np.float32)
    with pytest.raises(AssertionError, match=r"mmap\.mmap"):
        Tensor.from_blob(numbers.ctypes.data + 4, (6,), dtype=dtypes.float32)


def test_memory_that_there_is_not_is_refused() -> None:
    with pytest.raises(MemoryError, match="failed on ASSAY"):
        Tensor.empty(1 << 50, dtype=dtypes.uint8).uop.buffer.allocate()


# What goes wrong


def test_source_that_does_not_compile_is_shown_with_its_line() -> None:
    with pytest.raises(CompileError, match=r"4:18.*unknown_name"):
        device().compiler.compile(
            HEADER
            + "kernel void bad(device float* x [[buffer(0)]]) {\n          x[0] = unknown_name;\n}"
        )


def test_a_kernel_that_leaves_its_buffer_is_named_with_the_place() -> None:
    runaway = program("kernel void far(device float* x) { x[400] = 1; }", "far", x=4)
    buffer = device().allocator.alloc(16)
    with pytest.raises(RuntimeError, match=r"(?s)3:.*out-of-bounds write.*'far'"):
        runaway(buffer, wait=True)
    runaway(buffer)
    with pytest.raises(RuntimeError, match="out-of-bounds write"):
        device().synchronize()
    device().synchronize()


def test_threadgroups_that_are_too_large_are_refused_as_searches_expect() -> None:
    kernel = program("kernel void nothing(device float* x) {}", "nothing", x=4)
    with pytest.raises(RuntimeError, match=r"2048 threads; 1024 are possible"):
        kernel(device().allocator.alloc(16), local_size=(64, 32, 1))


def test_too_much_threadgroup_memory_is_refused_as_searches_expect() -> None:
    with pytest.raises(RuntimeError, match="40000 B of threadgroup memory"):
        program(
            "kernel void big(device float* x) { threadgroup float y[10000]; y[0] = x[0]; "
            "threadgroup_barrier(mem_flags::mem_threadgroup); x[1] = y[0]; }",
            "big",
            x=4,
        )


def test_checks_find_nothing_in_kernels_that_are_right() -> None:
    a = np.random.default_rng(2).random((16, 2048), dtype=np.float32)
    checker = Checker(parse_checks("all"))
    with checking(checker):
        x = Tensor(a)
        np.testing.assert_allclose((x @ x.T).numpy(), a @ a.T, rtol=1e-4)
        np.testing.assert_allclose(x.max(axis=1).numpy(), a.max(axis=1))
        assert any("threadgroup_barrier" in source for source in sources(x.max(axis=1)))
    assert list(checker.findings) == []


def test_checks_find_races_in_kernels_written_by_hand() -> None:
    racing = program(
        "kernel void swap(device float* x, uint3 i [[thread_position_in_threadgroup]]) {"
        " x[i.x] = x[63 - i.x] + 1; }",
        "swap",
        x=64,
    )
    checker = Checker(parse_checks("race"))
    with checking(checker):
        racing(device().allocator.alloc(256), local_size=(64, 1, 1), wait=True)
    assert {finding.kind for finding in checker.findings} == {"race-read-write"}


def test_an_unknown_gpu_family_is_refused() -> None:
    with pytest.raises(RuntimeError, match="'Tesla' is no GPU family"):
        AssayRenderer(Target("ASSAY", arch="Tesla"))


# How scripts choose the device


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("DEV", "ASSAY")}
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env={**environment, "PYTHONPATH": str(ROOT), "PARALLEL": "0", **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


WHERE = "from tinygrad import Tensor, Device; print((Tensor([1, 2]) * 3).tolist(), Device.DEFAULT)"


@pytest.mark.parametrize("variable", ["DEV", "ASSAY"])
def test_environment_variables_choose_the_device(variable: str) -> None:
    value = {"DEV": "ASSAY", "ASSAY": "1"}[variable]
    done = python("-c", f"import assay.tinygrad; {WHERE}", **{variable: value})
    assert done.stdout == "[3, 6] ASSAY\n", done.stderr


def test_a_script_that_knows_nothing_of_the_device_runs_on_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import sys; {WHERE}; print(sys.argv[1:], __name__)")
    done = python("-m", "assay.tinygrad", str(script), "--size", "3")
    assert done.stdout == "[3, 6] ASSAY\n['--size', '3'] __main__\n", done.stderr


def test_the_launcher_of_drop_ins_chooses_it_when_asked(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WHERE)
    done = python("-m", "assay.run", "--patch", "tinygrad", str(script))
    assert done.stdout == "[3, 6] ASSAY\n", done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac's METAL is its own")
def test_a_script_that_was_written_for_a_mac_runs_on_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WHERE.replace("* 3", "* 3).to('METAL'"))
    done = python("-m", "assay.tinygrad", str(script), DEV="METAL")
    assert done.stdout == "[3, 6] METAL\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ASSAY", "METAL"])
def test_kernels_are_compiled_in_worker_processes(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from tinygrad import Tensor\n"
        "x = Tensor([[3.0, 1.0], [2.0, 4.0]])\n"
        "print((x.sum(axis=0).contiguous() + x.max()).tolist())\n"
    )
    done = python("-m", "assay.tinygrad", str(script), DEV=name, PARALLEL="2")
    assert done.stdout == "[9.0, 9.0]\n", done.stderr


def test_a_script_that_is_not_there_is_reported_in_one_line(tmp_path: Path) -> None:
    done = python("-m", "assay.tinygrad", str(tmp_path / "none.py"))
    assert done.returncode == 2
    assert "there is no file" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("found", "message"),
    [("0.13.0", r"tinygrad 0\.13\.0 is installed.*0\.14"), (None, "needs tinygrad: pip install")],
)
def test_a_tinygrad_that_does_not_fit_is_refused_with_what_to_install(
    found: str | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if found is None:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr("assay.tinygrad.registration.version", version)
    monkeypatch.delitem(sys.modules, "tinygrad.runtime.ops_assay")
    with pytest.raises(ImportError, match=message):
        assay.tinygrad.register()


def test_the_profiler_of_tinygrad_sees_kernels_and_copies() -> None:
    x = Tensor([1.0, 2.0]).realize()
    Compiled.profile_events.clear()
    cpu_events.clear()
    with Context(PROFILE=1):
        assert (x + 1).tolist() == [2.0, 3.0]
    seen = [e for e in (*Compiled.profile_events, *cpu_events) if isinstance(e, ProfileRangeEvent)]
    kernels = [event for event in seen if event.device == "ASSAY"]
    copies = [event for event in seen if event.device == "ASSAY:COPY"]
    assert [event.name for event in kernels] == ["E_2"]
    assert len(copies) == 1
    assert kernels[0].st < kernels[0].en <= copies[0].st < copies[0].en


def test_kernels_are_timed_at_debug_level_2() -> None:
    done = python("-c", f"import assay.tinygrad; {WHERE}", DEV="ASSAY", DEBUG="2", NO_COLOR="1")
    (kernel,) = (line for line in done.stdout.splitlines() if "ASSAY" in line and "E_2" in line)
    assert "GFLOPS" in kernel

"""Host programs of compiled models on a device that only records what it is asked to do."""

import threading
from pathlib import Path

import numpy as np
import pytest

from assay.hal.semaphore import Fence
from assay.hal.status import StatusError
from assay.hal.vm import LoadedModule, Session, VmError

from .doubles import Recorder, compiled, recording_device

MODELS = Path(__file__).parents[2] / "models" / "mlir"
MLP = """
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x8xf32>)
    -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x32xf32>)
                     outs(%f : tensor<4x32xf32>) -> tensor<4x32xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x32xf32>, tensor<32x8xf32>)
                     outs(%f2 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""
SHAPES = ((4, 16), (16, 32), (32, 8))
ASYNC = ("--iree-hal-target-device=metal", "--iree-execution-model=async-external")


def arrays() -> list[np.ndarray]:
    return [np.zeros(shape, np.float32) for shape in SHAPES]


def loaded(*flags: str) -> tuple[LoadedModule, Recorder]:
    device, recorder = recording_device()
    return Session(device).load(compiled(MLP, *flags)), recorder


def test_a_model_dispatches_its_kernels_in_order_with_their_grids_and_bindings() -> None:
    module, recorder = loaded()
    (result,) = module.invoke("main", *arrays())
    assert result.shape == (4, 8) and result.dtype == np.float32
    first, second = recorder.dispatches
    assert "matmul_4x32x16" in first.kernel and "matmul_4x8x32" in second.kernel
    assert first.threadgroups == second.threadgroups == (1, 1, 1)
    assert set(first.bindings) == {0, 1, 2} and set(second.bindings) == {0, 1, 2}
    # The second reads what the first wrote.
    assert second.bindings[0] == first.bindings[2]


def test_a_module_can_be_called_many_times() -> None:
    module, recorder = loaded()
    for _ in range(5):
        module.invoke("main", *arrays())
    assert len(recorder.dispatches) == 10


def test_signatures_are_those_of_the_model() -> None:
    info = loaded()[0].functions["main"]
    assert info.arguments == ("tensor<4x16xf32>", "tensor<16x32xf32>", "tensor<32x8xf32>")
    assert info.results == ("tensor<4x8xf32>",)
    assert not info.asynchronous


@pytest.mark.parametrize(
    ("position", "array", "message"),
    [
        (
            0,
            np.zeros((5, 16), np.float32),
            "input0 shape dimension 0 mismatch; expected 4 but have 5; "
            "expected shape `4x16`, actual shape `5x16`",
        ),
        (
            1,
            np.zeros(16, np.float32),
            "input1 shape rank mismatch; expected 2 but have 1; "
            "expected shape `16x32`, actual shape `16`",
        ),
        (
            2,
            np.zeros((32, 8), np.float64),
            "input2 element type mismatch; expected f32 (21000020) but have f64 (21000040)",
        ),
        (
            0,
            np.zeros((4, 16), np.int32),
            "input0 element type mismatch; expected f32 (21000020) but have i32 (10000020)",
        ),
    ],
)
def test_wrong_arrays_are_refused_in_irees_words(
    position: int, array: np.ndarray, message: str
) -> None:
    module, _ = loaded()
    inputs = arrays()
    inputs[position] = array
    with pytest.raises(VmError) as error:
        module.invoke("main", *inputs)
    assert (error.value.status, error.value.message) == ("INVALID_ARGUMENT", message)


def test_an_asynchronous_function_runs_nothing_before_its_wait_fence_is_reached() -> None:
    module, recorder = loaded(*ASYNC)
    assert module.functions["main"].asynchronous
    assert len(module.functions["main"].arguments) == 3
    start = Fence(((module.session.device.create_semaphore(0), 1),))
    invocation, done = module.begin("main", *arrays(), wait=start)
    invocation.run()
    assert done is not None and invocation.done
    assert not done.reached() and recorder.dispatches == []
    start.signal()
    assert done.wait(10_000)
    assert len(recorder.dispatches) == 2
    assert module.results(invocation)[0].shape == (4, 8)


def test_an_asynchronous_function_can_be_called_like_any_other() -> None:
    module, recorder = loaded(*ASYNC)
    assert module.invoke("main", *arrays())[0].shape == (4, 8)
    assert len(recorder.dispatches) == 2


def test_the_failure_of_a_wait_fence_reaches_the_signal_fence() -> None:
    module, _ = loaded(*ASYNC)
    start = Fence(((module.session.device.create_semaphore(0), 1),))
    invocation, done = module.begin("main", *arrays(), wait=start)
    invocation.run()
    start.fail(StatusError("ABORTED", "the caller gave up"))
    assert done is not None
    with pytest.raises(VmError, match="the caller gave up"):
        done.wait(10_000)


def test_a_host_loop_waits_in_the_invocation_until_another_thread_signals() -> None:
    device, _ = recording_device()
    module = Session(device).load(compiled((MODELS / "while_data.mlir").read_text(), *ASYNC))
    info = module.functions["main"]
    start = Fence(((device.create_semaphore(0), 1),))
    shape = tuple(int(size) for size in info.arguments[0][7:-1].split("x")[:-1])
    # Nothing changes on this device: a value that ends the loop at once.
    invocation, done = module.begin("main", np.full(shape, 1e9, np.float32), wait=start)
    invocation.resume()
    assert not invocation.done and not invocation.ready
    timer = threading.Timer(0.05, start.signal)
    timer.start()
    invocation.run()
    timer.join()
    assert done is not None and done.wait(10_000)


def test_a_program_that_waits_for_what_nothing_signals_is_told_so() -> None:
    device, _ = recording_device()
    fence = Fence(((device.create_semaphore(0, private=True), 1),))
    after = Fence(((device.create_semaphore(0, private=True), 1),))
    device.queue_execute(fence, after, None)
    assert fence.unreachable() and after.unreachable()
    outside = Fence(((device.create_semaphore(0), 1),))
    assert not outside.unreachable()
    fence.signal()
    assert after.wait(10_000)


def test_threads_can_call_one_module_at_the_same_time() -> None:
    module, recorder = loaded()
    errors: list[BaseException] = []

    def call() -> None:
        try:
            for _ in range(10):
                module.invoke("main", *arrays())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(recorder.dispatches) == 80
    for dispatched in recorder.dispatches:
        assert len(set(dispatched.bindings.values())) == 3


def test_traced_tensors_are_kept_by_name() -> None:
    device, _ = recording_device()
    session = Session(device)
    module = session.load(
        compiled(
            """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  flow.tensor.trace "seen" = [%x : tensor<4xf32>]
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
        )
    )
    given = np.arange(4, dtype=np.float32)
    module.invoke("main", given)
    ((name, array),) = session.traces
    assert name == "seen"
    np.testing.assert_array_equal(array, given)


def test_one_module_can_import_anothers_functions() -> None:
    session = Session(recording_device()[0])
    session.load(
        compiled(
            """
vm.module @library {
  vm.export @add_one
  vm.func @add_one(%a: i32) -> i32 {
    %one = vm.const.i32 1
    %b = vm.add.i32 %a, %one : i32
    vm.return %b : i32
  }
}
""",
            "--compile-mode=vm",
        )
    )
    text = """
vm.module @user {
  vm.import private @library.add_one(%a: i32) -> i32
  vm.export @main
  vm.func @main(%a: i32) -> i32 {
    %b = vm.call @library.add_one(%a) : (i32) -> i32
    %c = vm.call @library.add_one(%b) : (i32) -> i32
    vm.return %c : i32
  }
}
"""
    assert session.load(compiled(text, "--compile-mode=vm")).invoke("main", 40) == [42]
    with pytest.raises(VmError, match="module 'library' not registered"):
        Session(recording_device()[0]).load(compiled(text, "--compile-mode=vm"))


@pytest.mark.parametrize(
    ("position", "array"),
    [
        (0, np.zeros((5, 16), np.float32)),
        (1, np.zeros(16, np.float32)),
        (2, np.zeros((), np.float32)),
        (2, np.zeros((32, 8), np.float64)),
        (1, np.zeros((16, 32), np.float16)),
    ],
)
def test_refusals_are_word_for_word_those_of_irees_runtime(
    position: int, array: np.ndarray
) -> None:
    runtime = pytest.importorskip("iree.runtime")
    flags = (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    )
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, compiled(MLP, *flags)))
    inputs = arrays()
    inputs[position] = array
    with pytest.raises(ValueError, match="INVALID_ARGUMENT") as theirs:
        context.modules.module["main"](*inputs)
    with pytest.raises(VmError) as ours:
        loaded()[0].invoke("main", *inputs)
    assert f"{ours.value.status}; {ours.value.message};" in str(theirs.value)


@pytest.mark.parametrize("devices", ["metal,local", "local,metal"])
def test_a_module_for_several_devices_runs_its_metal_kernels(devices: str) -> None:
    module, recorder = loaded(
        f"--iree-hal-target-device={devices}",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
        "--iree-hal-link-executables=false",
    )
    module.invoke("main", *arrays())
    assert len(recorder.dispatches) == 2

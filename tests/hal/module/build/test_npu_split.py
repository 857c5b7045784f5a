"""One model on the NPU and other devices together: integers cross, the results are the same."""

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError, compile_model
from assay.hal.cpu.library import FORMAT
from assay.hal.module.records import Call, Copy
from assay.hal.semaphore import Fence
from assay.reference import CpuModule
from tests.models.onnx.network import Network

pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
HEAD = ("GlobalAveragePool", "Flatten", "Gemm", "Softmax")


def with_shape(data: bytes, *shape: int) -> bytes:
    """A model whose result has a stated shape, which IREE's importer asks for."""
    import onnx

    model = onnx.load_from_string(data)
    (output,) = model.graph.output
    kind = output.type.tensor_type.elem_type
    output.CopyFrom(onnx.helper.make_tensor_value_info(output.name, kind, list(shape)))
    made: bytes = model.SerializeToString()
    return made


def conv(net: Network, x: str, read: int, made: int, kernel: int = 3, stride: int = 1) -> str:
    weights = net.weights((made, read, kernel, kernel), by_channel=0)
    fields = {"pads": [kernel // 2] * 4, "strides": [stride, stride]}
    return net.node("Conv", x, weights, net.bias(made), **fields)


def cnn(kind: str = "int8") -> bytes:
    """Convolutions in int8 with a residual sum; pooling and a classifier in floats."""
    net = Network(3, kind)
    x = net.qdq(net.input((1, 3, 16, 16)), 0.02)
    x = net.qdq(net.node("Relu", conv(net, x, 3, 16, stride=2)), 0.05)
    x = net.qdq(net.node("Add", x, net.qdq(conv(net, x, 16, 16, 1), 0.3)), 0.3)
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    weights = net.const(net.random.normal(0, 0.02, (16, 10)), "float32")
    x = net.node("Softmax", net.node("Gemm", x, weights, net.bias(10)), axis=1)
    return with_shape(net.finish(x), 1, 10)


def split(*others: str, device: str = "metal") -> str:
    return "".join(f"{kind} {device}\n" for kind in others) + "* torq\n"


def calls(module: AssayModule) -> dict[str, str]:
    """Devices by the kinds of the operators that their kernels do."""
    whole = module.opened.module
    model = whole.models[0]
    return {
        whole.locations[model.tensors[item.outputs[0]].location].operator: whole.devices[
            whole.kernels[item.kernel].device
        ]
        for item in model.regions[0].instructions
        if isinstance(item, Call)
    }


def crossings(module: AssayModule) -> list[Any]:
    model = module.opened.module.models[0]
    items = model.regions[0].instructions
    return [model.tensors[item.target] for item in items if isinstance(item, Copy)]


def image(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((1, 3, 16, 16)).astype(np.float32)


def expected(path: Path, x: np.ndarray) -> np.ndarray:
    (made,) = CpuModule(compile_model(path, target="llvm-cpu").data).invoke("network", [x])
    return np.asarray(made)


@pytest.mark.parametrize("kind", ["int8", pytest.param("uint8", marks=pytest.mark.slow)])
def test_convolutions_on_the_npu_and_a_float_head_on_metal_give_what_iree_gives(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn(kind))
    data = assay.build(path, devices=["torq", "metal"], split=split(*HEAD))
    module = load_assay(data, "torq,emulated")
    for seed in range(3):
        found = module(image(seed))
        # a step of the NPU's last scale, 0.3, on its way through the classifier
        assert np.abs(found - expected(path, image(seed))).max() < 2e-3
    done = calls(module)
    assert [device for kinds, device in done.items() if "Conv" in kinds] == ["torq"]
    assert {done[kinds] for kinds in done if "Conv" not in kinds} == {"metal"}
    assert {tensor.shape for tensor in crossings(module)} == {(1, 3, 16, 16), (1, 16, 8, 8)}


def test_what_the_npu_makes_is_what_tosa_on_the_cpu_makes_to_the_bit(tmp_path: Path) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    module = load_assay(
        assay.build(path, devices=["torq", "cpu"], split=split(*HEAD, device="cpu")), "torq,cpu"
    )
    x = image(1)
    module(x)
    model = module.opened.module.models[0]
    (given, made) = (
        model.tensors[item.source]
        for item in model.regions[0].instructions
        if isinstance(item, Copy)
    )
    integers = np.clip(np.rint(x / np.float32(0.02)), -128, 127).astype(np.int8)
    assert given.shape == x.shape
    part = tmp_path / "part.onnx"
    part.write_bytes(npu_part(path))
    whole = load_assay(_tosa_on_the_cpu(part, tmp_path), "cpu")
    assert np.array_equal(module.context.context.read(model.tensors.index(made)), whole(integers))


def npu_part(path: Path) -> bytes:
    from assay.compiler.module.npu import NpuParts
    from assay.compiler.module.onnx_source import OnnxSource

    model = OnnxSource(path)
    graph = model.graph(model.declared())
    parts = NpuParts(model, graph, lambda operator: operator.node.op_type not in HEAD)
    (kernel,) = parts.kernels.values()
    return kernel.model


def _tosa_on_the_cpu(part: Path, folder: Path) -> bytes:
    from assay.compiler.graph.importer import import_model

    (folder / "part.mlir").write_text(str(import_model(part)))
    return assay.build(folder / "part.mlir", devices=["cpu"])


def test_operators_that_the_npu_cannot_do_fall_to_the_next_device_and_are_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    told: list[str] = []
    data = assay.build(path, devices=["torq", "cpu", "metal"], split="* torq\n", report=told.append)
    assert all(line.startswith("not on torq but on cpu: ") for line in told)
    named = {line.split(": ")[1].split(" ")[0] for line in told}
    assert named == {"QuantizeLinear", "GlobalAveragePool", "Gemm", "Softmax"}
    assert "reads input_0, which is float" in told[0]
    module = load_assay(data, "torq,cpu")
    assert np.abs(module(image()) - expected(path, image())).max() < 2e-3


def test_the_npu_alone_says_what_it_cannot_do(tmp_path: Path) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    with pytest.raises(ModelError, match=r"NPU alone cannot do all of it:(?s:.*)QuantizeLinear"):
        assay.build(path, devices=["torq"], split="* torq\n")


def test_a_model_of_integers_is_built_for_the_npu_alone_without_a_split(tmp_path: Path) -> None:
    net = Network(3)
    x = net.node("DequantizeLinear", net.input((1, 3, 16, 16), "int8"), *net.scales(0.02))
    x = net.node("Relu", conv(net, x, 3, 8, stride=2))
    x = net.node("QuantizeLinear", x, *net.scales(0.05))
    path = tmp_path / "integers.onnx"
    path.write_bytes(with_shape(net.finish(x), 1, 8, 8, 8))
    data = assay.build(path, devices=["torq", "cpu"])  # either of them does all of it
    given = np.random.default_rng(0).integers(-128, 128, (1, 3, 16, 16)).astype(np.int8)
    by_npu, by_cpu = (load_assay(data, device)(given) for device in ("torq", "cpu"))
    assert by_npu.dtype == np.int8 and np.array_equal(by_npu, by_cpu)


def test_floats_at_its_ends_are_not_for_the_npu_alone(tmp_path: Path) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    with pytest.raises(ModelError, match=r"NPU alone cannot do all of it:(?s:.*)input_0, which is"):
        assay.build(path, devices=["torq"])


def test_work_that_leaves_the_npu_and_comes_back_is_two_parts(tmp_path: Path) -> None:
    """The sum reads what is before the other device, too: one part would wait for itself."""
    net = Network(5)
    x = net.qdq(net.input((1, 3, 16, 16)), 0.02)
    x = net.qdq(conv(net, x, 3, 8), 0.1)
    y = net.qdq(net.node("Erf", x), 0.01)
    x = net.qdq(net.node("Add", conv(net, y, 8, 8), x), 0.1)
    path = tmp_path / "bypass.onnx"
    path.write_bytes(with_shape(net.finish(x), 1, 8, 16, 16))
    told: list[str] = []
    data = assay.build(
        path,
        devices=["torq", "cpu"],
        split="Erf cpu\n" + split(),
        report=told.append,
    )
    module = load_assay(data, "torq,cpu")
    on_npu = [kinds for kinds, device in calls(module).items() if device == "torq"]
    assert len(on_npu) == 2
    assert len(crossings(module)) == 4  # in, out to Erf, in from it, out at the end
    found = module(image())
    assert np.abs(found - expected(path, image())).max() <= 0.1 + 1e-6  # one step


def test_a_dequantiser_that_both_sides_read_is_done_by_each(tmp_path: Path) -> None:
    net = Network(6)
    x = net.qdq(net.input((1, 3, 16, 16)), 0.02)
    x = net.qdq(conv(net, x, 3, 8), 0.1)
    y = net.qdq(conv(net, x, 8, 8), 0.2)
    path = tmp_path / "both.onnx"
    path.write_bytes(with_shape(net.finish(net.node("Sub", net.node("Sinh", x), y)), 1, 8, 16, 16))
    data = assay.build(path, devices=["torq", "cpu"], split="Sub cpu\nSinh cpu\n* torq\n")
    module = load_assay(data, "torq,cpu")
    done = calls(module)
    assert [kinds.count("Conv") for kinds, device in done.items() if device == "torq"] == [2]
    found, wanted = module(image() / 8), expected(path, image() / 8)
    assert np.allclose(found, wanted, rtol=0.2, atol=0.2 + 1e-5)


def test_the_host_waits_for_nothing_between_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    data = assay.build(path, devices=["torq", "metal"], split=split(*HEAD))
    context = load_assay(data, "torq,emulated").new_context()
    context.run()
    waited: list[Fence] = []
    wait = Fence.wait

    def noted(self: Fence, *rest: Any) -> bool:
        if threading.current_thread() is threading.main_thread():
            waited.append(self)
        return wait(self, *rest)

    run = context.context.begin()
    with run.drained():
        monkeypatch.setattr(Fence, "wait", noted)
        run.submit(0, len(context.context.model.regions[0].instructions))
        assert not waited

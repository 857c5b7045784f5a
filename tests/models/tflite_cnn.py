"""Writes an int8 TFLite CNN without TensorFlow: the FlatBuffer is put together by hand."""

from typing import Any

import flatbuffers
import numpy as np
import tflite

Builder = flatbuffers.Builder


def int8_cnn() -> bytes:
    """Convolution with relu, max pooling, reshape and a fully connected layer, all int8."""
    random = np.random.default_rng(5)
    model = _Model()
    image = model.tensor("image", (1, 8, 8, 4), tflite.TensorType.INT8, scale=0.05, zero=3)
    filters = random.integers(-90, 91, (8, 3, 3, 4)).astype(np.int8)
    weights = model.tensor("filter", filters.shape, tflite.TensorType.INT8, 0.01, 0, filters)
    bias_values = random.integers(-500, 500, 8).astype(np.int32)
    bias = model.tensor("bias", (8,), tflite.TensorType.INT32, 0.05 * 0.01, 0, bias_values)
    conv = model.tensor("conv", (1, 8, 8, 8), tflite.TensorType.INT8, scale=0.04, zero=-20)
    pool = model.tensor("pool", (1, 4, 4, 8), tflite.TensorType.INT8, scale=0.04, zero=-20)
    flat = model.tensor("flat", (1, 128), tflite.TensorType.INT8, scale=0.04, zero=-20)
    dense = random.integers(-90, 91, (10, 128)).astype(np.int8)
    fc_weights = model.tensor("fc_weights", dense.shape, tflite.TensorType.INT8, 0.008, 0, dense)
    fc_bias_values = random.integers(-500, 500, 10).astype(np.int32)
    fc_bias = model.tensor(
        "fc_bias", (10,), tflite.TensorType.INT32, 0.04 * 0.008, 0, fc_bias_values
    )
    scores = model.tensor("scores", (1, 10), tflite.TensorType.INT8, scale=0.1, zero=5)
    model.convolution(image, weights, bias, conv)
    model.max_pool(conv, pool)
    model.reshape(pool, flat, (1, 128))
    model.fully_connected(flat, fc_weights, fc_bias, scores)
    return model.finish([image], [scores])


class _Model:
    """A TFLite FlatBuffer with one subgraph, under construction."""

    def __init__(self) -> None:
        self._builder = Builder(1 << 14)
        self._buffers: list[bytes] = [b""]
        self._tensors: list[int] = []
        self._operators: list[int] = []
        self._codes: list[int] = []

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        kind: int,
        scale: float,
        zero: int,
        value: np.ndarray | None = None,
    ) -> int:
        """Declares a tensor, with its contents when it is a weight; returns its index."""
        b = self._builder
        buffer = 0
        if value is not None:
            self._buffers.append(value.tobytes())
            buffer = len(self._buffers) - 1
        text = b.CreateString(name)
        sizes = b.CreateNumpyVector(np.array(shape, np.int32))
        scales = b.CreateNumpyVector(np.array([scale], np.float32))
        zeros = b.CreateNumpyVector(np.array([zero], np.int64))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scales)
        tflite.QuantizationParametersAddZeroPoint(b, zeros)
        quantization = tflite.QuantizationParametersEnd(b)
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, sizes)
        tflite.TensorAddType(b, kind)
        tflite.TensorAddBuffer(b, buffer)
        tflite.TensorAddName(b, text)
        tflite.TensorAddQuantization(b, quantization)
        self._tensors.append(tflite.TensorEnd(b))
        return len(self._tensors) - 1

    def convolution(self, x: int, weights: int, bias: int, y: int) -> None:
        b = self._builder
        tflite.Conv2DOptionsStart(b)
        tflite.Conv2DOptionsAddPadding(b, tflite.Padding.SAME)
        tflite.Conv2DOptionsAddStrideW(b, 1)
        tflite.Conv2DOptionsAddStrideH(b, 1)
        tflite.Conv2DOptionsAddFusedActivationFunction(b, tflite.ActivationFunctionType.RELU)
        options = tflite.Conv2DOptionsEnd(b)
        kind = tflite.BuiltinOptions.Conv2DOptions
        self._operator(tflite.BuiltinOperator.CONV_2D, 3, [x, weights, bias], y, kind, options)

    def max_pool(self, x: int, y: int) -> None:
        b = self._builder
        tflite.Pool2DOptionsStart(b)
        tflite.Pool2DOptionsAddPadding(b, tflite.Padding.VALID)
        tflite.Pool2DOptionsAddStrideW(b, 2)
        tflite.Pool2DOptionsAddStrideH(b, 2)
        tflite.Pool2DOptionsAddFilterWidth(b, 2)
        tflite.Pool2DOptionsAddFilterHeight(b, 2)
        options = tflite.Pool2DOptionsEnd(b)
        kind = tflite.BuiltinOptions.Pool2DOptions
        self._operator(tflite.BuiltinOperator.MAX_POOL_2D, 2, [x], y, kind, options)

    def reshape(self, x: int, y: int, shape: tuple[int, ...]) -> None:
        b = self._builder
        sizes = b.CreateNumpyVector(np.array(shape, np.int32))
        tflite.ReshapeOptionsStart(b)
        tflite.ReshapeOptionsAddNewShape(b, sizes)
        options = tflite.ReshapeOptionsEnd(b)
        kind = tflite.BuiltinOptions.ReshapeOptions
        self._operator(tflite.BuiltinOperator.RESHAPE, 1, [x], y, kind, options)

    def fully_connected(self, x: int, weights: int, bias: int, y: int) -> None:
        b = self._builder
        tflite.FullyConnectedOptionsStart(b)
        options = tflite.FullyConnectedOptionsEnd(b)
        kind = tflite.BuiltinOptions.FullyConnectedOptions
        code = tflite.BuiltinOperator.FULLY_CONNECTED
        self._operator(code, 4, [x, weights, bias], y, kind, options)

    def finish(self, inputs: list[int], outputs: list[int]) -> bytes:
        b = self._builder
        tensors = self._vector(tflite.SubGraphStartTensorsVector, self._tensors)
        operators = self._vector(tflite.SubGraphStartOperatorsVector, self._operators)
        ins = b.CreateNumpyVector(np.array(inputs, np.int32))
        outs = b.CreateNumpyVector(np.array(outputs, np.int32))
        name = b.CreateString("main")
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddInputs(b, ins)
        tflite.SubGraphAddOutputs(b, outs)
        tflite.SubGraphAddOperators(b, operators)
        tflite.SubGraphAddName(b, name)
        subgraph = tflite.SubGraphEnd(b)
        buffers = [self._buffer(data) for data in self._buffers]
        subgraphs = self._vector(tflite.ModelStartSubgraphsVector, [subgraph])
        codes = self._vector(tflite.ModelStartOperatorCodesVector, self._codes)
        buffer_vector = self._vector(tflite.ModelStartBuffersVector, buffers)
        description = b.CreateString("int8 cnn")
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, subgraphs)
        tflite.ModelAddDescription(b, description)
        tflite.ModelAddBuffers(b, buffer_vector)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def _operator(
        self, code: int, version: int, inputs: list[int], output: int, kind: int, options: int
    ) -> None:
        b = self._builder
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, code)
        tflite.OperatorCodeAddBuiltinCode(b, code)
        tflite.OperatorCodeAddVersion(b, version)
        self._codes.append(tflite.OperatorCodeEnd(b))
        ins = b.CreateNumpyVector(np.array(inputs, np.int32))
        outs = b.CreateNumpyVector(np.array([output], np.int32))
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, len(self._codes) - 1)
        tflite.OperatorAddInputs(b, ins)
        tflite.OperatorAddOutputs(b, outs)
        tflite.OperatorAddBuiltinOptionsType(b, kind)
        tflite.OperatorAddBuiltinOptions(b, options)
        self._operators.append(tflite.OperatorEnd(b))

    def _buffer(self, data: bytes) -> int:
        b = self._builder
        vector = b.CreateByteVector(data) if data else None
        tflite.BufferStart(b)
        if vector is not None:
            tflite.BufferAddData(b, vector)
        return int(tflite.BufferEnd(b))

    def _vector(self, start: Any, items: list[int]) -> int:
        start(self._builder, len(items))
        for item in reversed(items):
            self._builder.PrependUOffsetTRelative(item)
        return int(self._builder.EndVector())

"""Puts TFLite FlatBuffers together by hand, without TensorFlow."""

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite

Array = np.ndarray
KINDS = {
    "int8": tflite.TensorType.INT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "uint8": tflite.TensorType.UINT8,
    "float32": tflite.TensorType.FLOAT32,
    "bool": tflite.TensorType.BOOL,
}
"""Element types by their NumPy names."""


class Writer:
    """A TFLite FlatBuffer with one subgraph, under construction."""

    def __init__(self, description: str = "model") -> None:
        self._description = description
        self._builder = flatbuffers.Builder(1 << 14)
        self._buffers: list[bytes] = [b""]
        self._tensors: list[int] = []
        self._operators: list[int] = []
        self._codes: dict[tuple[int, int, str], int] = {}

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str,
        *,
        scales: Sequence[float] = (),
        zeros: Sequence[int] = (),
        axis: int = 0,
        value: Array | None = None,
        signature: Sequence[int] = (),
    ) -> int:
        """Declares a tensor, with its contents when it is a constant; returns its index.

        `scales` are one or one per index of `axis`; none means that it is not quantised.
        `signature` has -1 for a dimension that is not known.
        """
        b = self._builder
        buffer = 0
        if value is not None:
            self._buffers.append(np.ascontiguousarray(value).tobytes())
            buffer = len(self._buffers) - 1
        text = b.CreateString(name)
        sizes = b.CreateNumpyVector(np.array(shape, np.int32))
        dynamic = b.CreateNumpyVector(np.array(signature, np.int32)) if signature else None
        quantization = self._quantization(scales, zeros, axis) if scales else None
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, sizes)
        tflite.TensorAddType(b, KINDS[dtype])
        tflite.TensorAddBuffer(b, buffer)
        tflite.TensorAddName(b, text)
        if quantization is not None:
            tflite.TensorAddQuantization(b, quantization)
        if dynamic is not None:
            tflite.TensorAddShapeSignature(b, dynamic)
        self._tensors.append(tflite.TensorEnd(b))
        return len(self._tensors) - 1

    def operator(
        self,
        code: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        version: int = 1,
        options: str = "",
        custom: str = "",
        **fields: Any,
    ) -> None:
        """Adds an operator; `options` names its table of options, `fields` what is in it."""
        b = self._builder
        number = getattr(tflite.BuiltinOperator, code)
        vectors = {name: b.CreateNumpyVector(v) for name, v in _vectors(fields).items()}
        place = self._options(options, {**fields, **vectors}) if options else None
        ins = b.CreateNumpyVector(np.array(inputs, np.int32))
        outs = b.CreateNumpyVector(np.array(outputs, np.int32))
        index = self._codes.setdefault((number, version, custom), len(self._codes))
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, index)
        tflite.OperatorAddInputs(b, ins)
        tflite.OperatorAddOutputs(b, outs)
        if place is not None:
            tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options))
            tflite.OperatorAddBuiltinOptions(b, place)
        self._operators.append(tflite.OperatorEnd(b))

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The file."""
        b = self._builder
        subgraphs = self._vector(tflite.ModelStartSubgraphsVector, [self._main(inputs, outputs)])
        codes = self._vector(tflite.ModelStartOperatorCodesVector, self._operator_codes())
        buffers = [self._buffer(data) for data in self._buffers]
        buffer_vector = self._vector(tflite.ModelStartBuffersVector, buffers)
        description = b.CreateString(self._description)
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, subgraphs)
        tflite.ModelAddDescription(b, description)
        tflite.ModelAddBuffers(b, buffer_vector)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def _main(self, inputs: Sequence[int], outputs: Sequence[int]) -> int:
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
        return int(tflite.SubGraphEnd(b))

    def _operator_codes(self) -> list[int]:
        b = self._builder
        codes = []
        for number, version, custom in self._codes:
            text = b.CreateString(custom) if custom else None
            tflite.OperatorCodeStart(b)
            tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(number, 127))
            tflite.OperatorCodeAddBuiltinCode(b, number)
            tflite.OperatorCodeAddVersion(b, version)
            if text is not None:
                tflite.OperatorCodeAddCustomCode(b, text)
            codes.append(int(tflite.OperatorCodeEnd(b)))
        return codes

    def _options(self, table: str, fields: Mapping[str, Any]) -> int:
        b = self._builder
        getattr(tflite, f"{table}Start")(b)
        for name, value in fields.items():
            getattr(tflite, f"{table}Add{name}")(b, value)
        return int(getattr(tflite, f"{table}End")(b))

    def _quantization(self, scales: Sequence[float], zeros: Sequence[int], axis: int) -> int:
        b = self._builder
        points = list(zeros) or [0] * len(scales)
        scale_vector = b.CreateNumpyVector(np.array(scales, np.float32))
        zero_vector = b.CreateNumpyVector(np.array(points, np.int64))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scale_vector)
        tflite.QuantizationParametersAddZeroPoint(b, zero_vector)
        tflite.QuantizationParametersAddQuantizedDimension(b, axis)
        return int(tflite.QuantizationParametersEnd(b))

    def _buffer(self, data: bytes) -> int:
        b = self._builder
        vector = None
        if data:
            b.StartVector(1, len(data), 16)
            b.head -= len(data)
            b.Bytes[b.head : b.head + len(data)] = data
            vector = b.EndVector()
        tflite.BufferStart(b)
        if vector is not None:
            tflite.BufferAddData(b, vector)
        return int(tflite.BufferEnd(b))

    def _vector(self, start: Any, items: list[int]) -> int:
        start(self._builder, len(items))
        for item in reversed(items):
            self._builder.PrependUOffsetTRelative(item)
        return int(self._builder.EndVector())


def _vectors(fields: Mapping[str, Any]) -> dict[str, Array]:
    """The fields that are vectors of whole numbers."""
    return {
        name: np.array(value, np.int32)
        for name, value in fields.items()
        if isinstance(value, list | tuple)
    }

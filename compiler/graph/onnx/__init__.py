"""ONNX models: quantised networks read and written as TOSA."""

"""Model graphs: TFLite, ONNX, TOSA and linalg files read into one IR, and what they mean."""

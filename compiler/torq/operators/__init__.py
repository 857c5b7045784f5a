"""What the NPU computes: one description per operator, with types and quantisation, no values."""

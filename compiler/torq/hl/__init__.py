"""TorqHL: the NPU's operators as a dialect, with quantisation, layout and memory in the types."""

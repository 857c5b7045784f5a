"""TorqHW: the NPU's programs as typed operations, whose text is the listing of the binary."""

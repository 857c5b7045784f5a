"""Where the cycles of an NPU run went."""

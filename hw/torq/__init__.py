"""The Torq NPU: its memories, registers, descriptors, and how it behaves."""

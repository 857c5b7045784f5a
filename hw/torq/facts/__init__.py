"""The Torq NPU as data: memories, registers, modes and costs, with units and sources."""

"""The Torq NPU as a HAL device: registers, memory, interrupts."""

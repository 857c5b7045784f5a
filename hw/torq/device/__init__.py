"""The emulated NPU around its slices: command streams, DMA, the CSS core, interrupts, time."""

"""The machine's own processor as a device of the HAL: runs what IREE compiled for `llvm-cpu`."""

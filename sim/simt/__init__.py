"""The lane-vector engine: runs kernels of simdgroups of lanes, written as LLVM IR, on the CPU."""

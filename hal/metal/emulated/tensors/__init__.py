"""Tensors: arrays with extents and strides that kernels know."""

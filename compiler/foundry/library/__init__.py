"""Kernels that networks are made of."""

from .kernels import (
    KERNELS,
    Ready,
    argmax,
    embedding,
    gemv,
    layer_norm,
    rms_norm,
    rope,
    softmax,
    swiglu,
)

__all__ = [
    "KERNELS",
    "Ready",
    "argmax",
    "embedding",
    "gemv",
    "layer_norm",
    "rms_norm",
    "rope",
    "softmax",
    "swiglu",
]

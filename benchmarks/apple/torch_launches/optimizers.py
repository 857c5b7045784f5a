"""Steps of Adam and of gradient descent, for a list of tensors whose addresses lie in a buffer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Exact, Given, Setup

from .values import TYPE_OF, Array, Launch, drawn, flag, number

_REAL = "float|half|bfloat"
_ADAM = re.compile(
    rf"fused_adam(?P<decoupled>w)?(?P<max>_amsgrad)?_(?P<of>{_REAL})_(?P<at>{_REAL})"
)
_SGD = re.compile(rf"fused_sgd(?P<momentum>_momentum)?_(?P<of>{_REAL})")
_CHUNK = 65536
_LENGTHS = (_CHUNK + 70, 37)
# Each threadgroup's tensor, and which chunk of it.
_CHUNKS = ((0, 0), (0, 1), (1, 0))
_MOST = 32  # tensors and threadgroups
_ADDRESS = 8
_THREADS = 512


def optimizers(kernel: str) -> Sequence[Launch]:
    """The launches of such a kernel; none of another."""
    if found := _ADAM.fullmatch(kernel):
        return [_adam(kernel, found, decay, is_up) for decay, is_up in ((0.0, False), (0.1, True))]
    if found := _SGD.fullmatch(kernel):
        return [_sgd(kernel, found, first) for first in (False, True)]
    return []


def _adam(kernel: str, found: re.Match[str], decay: float, is_up: bool) -> Launch:
    """Parameters, gradients, means, means of squares, their maxima, and the number of steps."""
    lists = [_tensors(f"{kernel}.{each}", found["of"]) for each in ("params", "grads", "exp_avgs")]
    squares = ("exp_avg_sqs", "max_exp_avg_sqs") if found["max"] else ("exp_avg_sqs",)
    lists += [[abs(each) for each in _tensors(f"{kernel}.{of}", found["of"])] for of in squares]
    steps = [np.full(1, count, TYPE_OF[found["at"]]) for count in (3, 11)]
    scalars = {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "weight_decay": decay, "eps": 1e-8}
    arguments: dict[str, Given] = {
        **{name: number(value) for name, value in scalars.items()},
        "maximize": flag(is_up),
    }
    return _step([*lists, steps], arguments)


def _sgd(kernel: str, found: re.Match[str], is_first: bool) -> Launch:
    names = ("params", "grads", "momentum") if found["momentum"] else ("params", "grads")
    lists = [_tensors(f"{kernel}.{each}", found["of"]) for each in names]
    arguments: dict[str, Given] = {
        "weight_decay": number(0.1 if is_first else 0.0),
        "lr": number(0.01),
        "maximize": flag(is_first),
    }
    if found["momentum"]:
        arguments |= {
            "momentum": number(0.9),
            "dampening": number(0.3),
            "nesterov": flag(not is_first),
            "is_first_step": flag(is_first),
        }
    return _step(lists, arguments)


def _tensors(name: str, of: str) -> list[Array]:
    return [drawn(f"{name}.{length}", of, length) for length in _LENGTHS]


def _step(lists: Sequence[Sequence[Array]], arguments: dict[str, Given]) -> Launch:
    """One step over all chunks; each list has room for as many tensors as there may be."""
    metadata = np.zeros((3, _MOST), np.uint32)
    metadata[0, : len(_LENGTHS)] = _LENGTHS
    metadata[1:, : len(_CHUNKS)] = np.transpose(_CHUNKS)
    arguments |= {
        "args": Exact(array=np.zeros(len(lists) * _MOST, np.uint64)),
        "metadata_args": Exact(array=metadata),
    }
    addressed = {
        _ADDRESS * (_MOST * which + place): tensor.view(np.uint8)
        for which, tensors in enumerate(lists)
        for place, tensor in enumerate(tensors)
    }
    setup = Setup(
        threadgroups=(len(_CHUNKS), 1, 1), threadgroup=(_THREADS, 1, 1), arguments=arguments
    )
    return Launch(setup=setup, addressed={"args": addressed})

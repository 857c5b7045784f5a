"""Tensors for the device "mps" on the CPU, where kernels of the emulated device work on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_MPS = "mps"


class MpsOnCpu(TorchFunctionMode):  # type: ignore[misc, no-any-unimported, unused-ignore]
    """While it is entered, PyTorch's functions take the CPU for "mps"."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The call with the CPU wherever it names the device."""
        named = {
            key: _cpu(value) if key == "device" else _cpu_of_device(value)
            for key, value in (kwargs or {}).items()
        }
        # Of words among positional arguments, those of `to` are devices.
        place = _cpu if func is torch.Tensor.to else _cpu_of_device
        return func(*map(place, args), **named)


def _cpu(value: Any) -> Any:
    is_name = isinstance(value, str) and value.partition(":")[0] == _MPS
    return torch.device("cpu") if is_name else _cpu_of_device(value)


def _cpu_of_device(value: Any) -> Any:
    is_device = isinstance(value, torch.device) and value.type == _MPS
    return torch.device("cpu") if is_device else value


@cache
def place_on_cpu() -> None:
    """Enter the mode once, for as long as the process lives."""
    mode: Any = MpsOnCpu()
    mode.__enter__()
    # A default device is put behind all modes: it must be another one from the start.
    set_default: Any = torch.set_default_device
    torch.set_default_device = lambda device: set_default(_cpu(device))

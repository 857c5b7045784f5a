"""Kernels that PyTorch and MLX compile and run themselves, recorded where programs call them.

Each hook wraps the function by which programs make kernels, whoever it belongs to: the library's
own on a Mac, the drop-in's elsewhere. A call is waited for, and the memory of its arrays read
before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module

from assay.hal.metal.recorder import Session

LIBRARIES = {"torch": "torch_kernels", "mlx": "mlx_kernels"}
"""The libraries whose kernels can be recorded, and the modules that do it."""


@contextmanager
def hooked(session: Session, device: str, libraries: Sequence[str]) -> Iterator[None]:
    """Record the kernels of those libraries that are in `LIBRARIES` until the block ends."""
    with ExitStack() as stack:
        for name in libraries:
            if name in LIBRARIES:
                hook = import_module(f"{__name__}.{LIBRARIES[name]}")
                stack.enter_context(hook.hooked(session, device))
        yield

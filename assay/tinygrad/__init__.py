"""The tinygrad device `ASSAY`: tinygrad's Metal kernels on the emulated Metal.

Importing this module is all there is to do: then `Tensor(..., device="ASSAY")` works, and so do the
environment variables `DEV=ASSAY` and `ASSAY=1`. `python -m assay.tinygrad SCRIPT` runs a script on
the device that knows nothing of it.
"""

from .registration import install, register

__all__ = ["install", "register"]

register()

"""Makes tinygrad know the device, without touching its installation.

tinygrad finds the device NAME as a class in the module `tinygrad.runtime.ops_name`.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Final

NAME: Final = "ASSAY"
# Devices are no stable interface of tinygrad: each of its versions needs a look.
_SUPPORTED: Final = "0.14"
_INSTALL: Final = 'pip install "assay-emulator[tinygrad]"'


def register() -> None:
    """Add the device to tinygrad. Raises ImportError when there is no tinygrad that fits."""
    if _module(NAME) in sys.modules:
        return
    _check_version()
    from tinygrad.helpers import DEV
    from tinygrad.schedule import rangeify

    from assay.hw.apple.facts.limits import limits

    from . import device

    sys.modules[_module(NAME)] = device
    # tinygrad splits kernels that have more, but knows the number of its own devices alone.
    rangeify.DEVICE_MAX_BUFS[NAME] = limits().buffers_per_stage
    if os.environ.get(NAME) == "1" and not DEV.device:
        DEV.value = NAME


def install() -> None:
    """Make the device tinygrad's default, and METAL on a machine that has none. Raises ImportError.

    A device that the environment variable DEV names stays the default.
    """
    register()
    from tinygrad.helpers import DEV

    if sys.platform != "darwin":
        from . import metal

        sys.modules[_module("METAL")] = metal
    if not DEV.device:
        # For processes that the program starts, too.
        os.environ["DEV"] = DEV.value = NAME


def _module(device: str) -> str:
    return f"tinygrad.runtime.ops_{device.lower()}"


def _check_version() -> None:
    try:
        found = version("tinygrad")
    except PackageNotFoundError:
        raise ImportError(f"the device {NAME} needs tinygrad: {_INSTALL}") from None
    if not f"{found}.".startswith(f"{_SUPPORTED}."):
        raise ImportError(
            f"tinygrad {found} is installed, but the device {NAME} needs {_SUPPORTED}: {_INSTALL}"
        )

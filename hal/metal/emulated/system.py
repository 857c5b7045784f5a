"""The devices that there are: one, made when first asked for."""

import threading

from .device import DeviceOptions, MTLDevice

_lock = threading.Lock()
_options = DeviceOptions()
_device: MTLDevice | None = None


def MTLCreateSystemDefaultDevice() -> MTLDevice:
    """The emulated device, the same at each call."""
    global _device
    with _lock:
        if _device is None:
            _device = MTLDevice(_options)
        return _device


def MTLCopyAllDevices() -> tuple[MTLDevice, ...]:
    """All devices: the emulated one."""
    return (MTLCreateSystemDefaultDevice(),)


def configure(options: DeviceOptions) -> None:
    """Make the default device, from the next call on, as `options` say. Not part of Metal."""
    global _device, _options
    with _lock:
        _options = options
        _device = None

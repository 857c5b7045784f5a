"""The Metal HAL driver: finds devices through the Metal API it is given."""

from __future__ import annotations

from typing import Any, ClassVar

from ..device import DeviceInfo, Driver
from ..status import StatusError
from .device import MetalDevice


class MetalDriver(Driver):
    """Works on any implementation of the Metal API with PyObjC's spelling.

    `api` is a module-like object: PyObjC's `Metal` on a Mac, the emulated one elsewhere.
    """

    name: ClassVar[str] = "metal"

    def __init__(self, api: Any) -> None:
        self._api = api
        self._handles = {
            f"{index}": handle for index, handle in enumerate(api.MTLCopyAllDevices() or ())
        }

    def devices(self) -> tuple[DeviceInfo, ...]:
        """The devices there are."""
        return tuple(
            DeviceInfo(identifier=identifier, name=str(handle.name()))
            for identifier, handle in self._handles.items()
        )

    def open(self, identifier: str | None = None) -> MetalDevice:
        """Open a device by identifier or name; the system's default without one."""
        if identifier is None:
            handle = self._api.MTLCreateSystemDefaultDevice()
            if handle is None:
                raise StatusError("UNAVAILABLE", "there is no Metal device")
            info = DeviceInfo(identifier="default", name=str(handle.name()))
            return MetalDevice(self._api, handle, info)
        for info in self.devices():
            if identifier in (info.identifier, info.name):
                return MetalDevice(self._api, self._handles[info.identifier], info)
        choices = ", ".join(f"{info.identifier} ({info.name})" for info in self.devices())
        raise StatusError("NOT_FOUND", f"no Metal device '{identifier}'; there are: {choices}")

"""What programs import as `Metal` while they are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .device import Device
from .programs import DESCRIPTORS, DescriptorClass
from .session import Session


class RecordingMetal:
    """A Metal API that records: `session.api` does the work, and has all that is not here."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._api = session.api
        self._classes = {
            name: DescriptorClass(getattr(self._api, name), session, kind)
            for name, kind in DESCRIPTORS.items()
            if hasattr(self._api, name)
        }

    def MTLCreateSystemDefaultDevice(self) -> Device | None:
        """The default device, None if there is none."""
        real = self._api.MTLCreateSystemDefaultDevice()
        return None if real is None else self.session.device_of(real)

    def MTLCopyAllDevices(self) -> Sequence[Device]:
        """All devices."""
        return [self.session.device_of(real) for real in self._api.MTLCopyAllDevices() or ()]

    def recorded(self) -> tuple[int, dict[str, int]]:
        """How many dispatches are recorded; those that are not, by the reason."""
        return self.session.writer.dispatches, self.session.writer.left_out

    def finish(self, seconds: float | None = None) -> bool:
        """Let run what was committed, for at most so long, and close the file.

        Whether all of it ran.
        """
        return self.session.finish(seconds)

    def stop(self) -> None:
        """Close the file with what was recorded, and wait for nothing; programs may run on."""
        self.session.writer.close()

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_classes", {}).get(name)
        return known if known is not None else getattr(self._api, name)

"""Records what programs do with Metal in this process."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay.hal.metal import api
from assay.hal.metal.recorder import Chosen, RecordingMetal, Session
from assay.hal.recordings import DeviceInfo, RecordingWriter

from .hooks import hooked

_PATIENCE = 5.0  # seconds for what runs still, when somebody ends the program


@contextmanager
def recording(
    path: Path,
    device: str = "native",
    *,
    program: str = "program",
    chosen: Chosen | None = None,
    libraries: Sequence[str] = (),
) -> Iterator[RecordingMetal]:
    """A Metal API whose dispatches are recorded in `path` until the end of the block.

    Meanwhile `assay.load` and programs that are run on `device` use it, too.

    Args:
        path: the file; it has its name once the block ends, however it ends, after all that was
            committed; after Ctrl-C or a signal to end, after what ends within seconds. Without a
            dispatch there is none, and an older one stays. A link is written through.
        device: "native", Apple's Metal on a Mac, or "emulated".
        program: what the recording calls the program.
        chosen: which dispatches are kept; all if not given.
        libraries: "torch", "mlx": whose own kernels are recorded, too; on the emulated device
            `assay.scripts.patch` has to let them run first.

    Raises:
        NoSuchMetal: if the device is not here.
        OSError: if the file cannot be written, or is a folder, a device or a pipe.
    """
    metal = api.load(device)
    writer = RecordingWriter(path, _device_info(metal, device), program)
    session = Session(metal, writer, chosen)
    recorder = RecordingMetal(session)
    patience: float | None = None
    try:
        with api.standing_in(device, recorder), hooked(session, device, libraries):
            yield recorder
    except (KeyboardInterrupt, SystemExit):
        patience = _PATIENCE
        raise
    finally:
        recorder.finish(patience)


def _device_info(metal: object, kind: str) -> DeviceInfo:
    from assay import __version__

    found = metal.MTLCreateSystemDefaultDevice()  # type: ignore[attr-defined]
    return DeviceInfo(
        name="none" if found is None else str(found.name()),
        kind=kind,
        system=platform.platform(terse=True),
        recorder=__version__,
    )

"""Keeps what kernels were given, so that a failed run can be looked at and repeated."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.hal.metal.emulated.commands.checking import argument_contents, kernel_of, sources_of

from .contents import Bytes

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand

    from .inputs import Size

_MOST_BYTES = 1 << 28  # that are kept of one test
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Dispatch:
    kernel: str
    sources: dict[str, str]
    main: str
    threads: Size | None
    threadgroups: Size | None
    threadgroup: Size
    arguments: dict[str, Bytes | int]

    @property
    def size(self) -> int:
        """Bytes of all buffers."""
        return sum(v.nbytes for v in self.arguments.values() if isinstance(v, np.ndarray))


class InputKeeper:
    """Remembers the last dispatch of each kernel, as far as its buffers are not too large."""

    def __init__(self) -> None:
        self._last: dict[str, _Dispatch] = {}
        self._lock = threading.Lock()

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Nothing: what a kernel is given shows when it runs."""

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """Copy what is bound."""
        kernel = kernel_of(command.pipeline)
        dispatch = _Dispatch(
            kernel=kernel.name,
            sources=dict(sources_of(command.pipeline)),
            main=kernel.file,
            threads=command.threads,
            threadgroups=command.threadgroups,
            threadgroup=command.threads_per_threadgroup,
            arguments=argument_contents(device, command),
        )
        with self._lock:
            others = sum(d.size for name, d in self._last.items() if name != kernel.name)
            if others + dispatch.size <= _MOST_BYTES:
                self._last[kernel.name] = dispatch

    def write(self, folder: Path) -> list[Path]:
        """Write a folder for each kernel that `assay check` can run; the folders."""
        written = []
        with self._lock:
            for dispatch in self._last.values():
                path = folder / file_name(dispatch.kernel)
                path.mkdir(parents=True, exist_ok=True)
                _write(dispatch, path)
                written.append(path)
        return written


def file_name(text: str) -> str:
    """Text as the name of a file or folder."""
    return _NOT_IN_NAMES.sub("_", text).strip("._")[:120] or "unnamed"


def _write(dispatch: _Dispatch, folder: Path) -> None:
    for name, text in dispatch.sources.items():
        main = name == dispatch.main or len(dispatch.sources) == 1
        target = "kernel.metal" if main else file_name(Path(name).name)
        (folder / target).write_text(text)
    lines = [f"[kernel.{_quoted(dispatch.kernel)}]"]
    if dispatch.threads is not None:
        lines.append(f"threads = {list(dispatch.threads)}")
    else:
        lines.append(f"threadgroups = {list(dispatch.threadgroups or ())}")
    lines.append(f"threadgroup = {list(dispatch.threadgroup)}")
    for name, value in dispatch.arguments.items():
        if isinstance(value, int):
            lines.append(f"arguments.{_quoted(name)} = {{ bytes = {value} }}")
            continue
        file = f"{file_name(name)}.npy"
        np.save(folder / file, value, allow_pickle=False)
        lines.append(
            f'arguments.{_quoted(name)} = {{ dtype = "uint8", fill = {_quoted("@" + file)} }}'
        )
    (folder / "args.toml").write_text("\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    """A key or a text as TOML has it."""
    if re.fullmatch(r"[\w-]+", text, re.A):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""The commands of slices as words, for the places that their tensors and they have in LRAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.hw.torq.notes import SliceRun
from assay.hw.torq.words.commands import SliceTask
from assay.hw.torq.words.errors import EncodeError

from ...models.errors import ModelError
from ..blocks import data_of, image, noted
from ..slice.errors import IllegalSliceProgram
from .steps import Buffer, RunSlice, Spot

_UNITS = ("SLC0", "SLC1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A run's commands.

    Attributes:
        data: the words, from the first address to the last.
        start: the LRAM address of the first.
        meant: what they are for.
        tasks: how many tasks the run's region has in all.
    """

    data: bytes
    start: int
    meant: SliceRun
    tasks: int


class Commands:
    """The commands of each run, which are encoded once."""

    def __init__(self, addresses: Mapping[Buffer, int]) -> None:
        self._addresses = addresses
        self._images: dict[RunSlice, Image] = {}
        self._emitted: dict[int, tuple[Mapping[str, Spot], list[SliceTask]]] = {}
        """By slice the places and tasks of its last region."""

    def of(self, run: RunSlice) -> Image:
        """A run's commands. Raises ModelError."""
        if run not in self._images:
            self._images[run] = self._encoded(run)
        return self._images[run]

    def _encoded(self, run: RunSlice) -> Image:
        address = self._addresses[run.code]
        tasks = self._emit(run)
        try:
            words = image(tasks, address)
        except EncodeError as error:
            raise ModelError(f"{run.source}: {error}") from None
        data = data_of(words)
        if len(data) > run.code.size:
            raise ModelError(
                f"{run.source}: its commands have {len(data)} bytes, and their buffer "
                f"{run.code.size}"
            )
        notes = noted(tasks, run.source, words, address)
        meant = SliceRun(unit=_UNITS[run.slice_], address=address, tasks=notes)
        in_all = len(self._emitted[run.slice_][1])
        return Image(data=data, start=min(words), meant=meant, tasks=in_all)

    def _emit(self, run: RunSlice) -> list[SliceTask]:
        """The tasks of a run's region; runs of the same region follow each other."""
        places, tasks = self._emitted.get(run.slice_, ({}, []))
        if places is not run.places:
            given = {name: spot.at(self._addresses) for name, spot in run.places.items()}
            try:
                tasks = run.kernel.emit(run.op, run.out, given)
            except IllegalSliceProgram as error:
                raise ModelError(f"{run.source}: {error}") from None
            self._emitted[run.slice_] = run.places, tasks
        if run.stop > len(tasks):
            raise ModelError(f"{run.source}: it has {len(tasks)} tasks, not {run.stop}")
        return tasks[run.first : run.stop]

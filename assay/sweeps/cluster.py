"""Points measured by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .batches import Batch, batches
from .errors import MissingExtra, SweepError
from .point import Point, model
from .processes import Measured
from .rows import lost
from .worker import measured


class Cluster:
    """The workers of the scheduler at an address, such as `tcp://10.0.0.1:8786`.

    Each of them needs the same Assay; kernels of one's own are looked for under the same path.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtra("dask.distributed") from None
        self._distributed: Any = distributed
        self._address = address
        self._client: Any = None

    def __enter__(self) -> Cluster:
        try:
            self._client = self._distributed.Client(
                self._address, timeout="10s", set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise SweepError(f"no Dask scheduler answers at {self._address}: {error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def measure(self, points: Sequence[Point], waves: int) -> Iterator[list[Measured]]:
        """Rows as they come, in no order. Raises SweepError."""
        count = len(self._client.scheduler_info(n_workers=-1)["workers"])
        if not count:
            raise SweepError(f"the scheduler at {self._address} has no workers")
        waiting: dict[Any, Batch] = {}
        for batch in batches(points, count):
            given = [point.as_json() for point in batch]
            # A row is asked for once: what a scheduler remembers of others is not wanted.
            waiting[self._client.submit(measured, given, waves, pure=False)] = batch
        futures = list(waiting)
        try:
            for future in self._distributed.as_completed(futures, loop=self._client.loop):
                batch = waiting.pop(future)
                yield list(zip(batch, self._rows(future, batch), strict=True))
        finally:
            self._client.cancel(list(waiting))

    def _rows(self, future: Any, batch: Sequence[Point]) -> Sequence[dict[str, Any]]:
        if future.status != "finished":
            error = future.exception()
            if isinstance(error, ModuleNotFoundError):
                raise SweepError(f"a worker at {self._address} has no Assay: {error}")
            return [lost(f"its worker was lost ({type(error).__name__})")] * len(batch)
        theirs, rows = future.result()
        if theirs != model():
            raise SweepError(
                f"a worker at {self._address} has Assay {theirs}, this is {model()}; rows of both "
                "do not belong together"
            )
        found: Sequence[dict[str, Any]] = rows
        return found

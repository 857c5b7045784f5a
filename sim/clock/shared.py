"""What several links lead to and share, such as the DRAM of a board."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .environment import Environment
from .link import fair_shares

if TYPE_CHECKING:
    from .link import Link


class Shared:
    """Bytes per second that links share: evenly among links, then among each link's transfers.

    What one does not ask for, others get (max-min fairness on both levels). A transfer asks for
    what its own link lets it move; while it gets less, all of it is slowed down as much.

    Args:
        environment: whose time it lives in.
        name: what traces and messages call it.
        rate: bytes per second.
        watch: called with the tick, a link's name and its bytes per second whenever these change.
    """

    def __init__(
        self,
        environment: Environment,
        name: str,
        rate: int,
        *,
        watch: Callable[[int, str, int], None] | None = None,
    ) -> None:
        if rate < 1:
            raise ValueError(f"{name!r}: {rate} B/s; what is shared moves at least 1 B/s")
        self.name = name
        self.rate = rate
        self._environment = environment
        self._watch = watch
        self._links: list[Link] = []
        self._told: dict[str, int] = {}

    def attach(self, link: Link) -> None:
        """One more link leads here."""
        self._links.append(link)

    def detach(self, link: Link) -> None:
        """A link is no more; what it asked for the others get."""
        self._links.remove(link)
        self.settle()
        self._tell(link.name, 0)

    def settle(self) -> None:
        """Share anew, now that the transfers of some link have changed."""
        for link in self._links:
            link.advance()
        for link in self._links:
            link.set_rates()
        asked = [sum(t.demand for t in link.active) for link in self._links]
        for link, granted in zip(self._links, fair_shares(asked, self.rate), strict=True):
            _slow_down(link, granted)
            link.plan()
            self._tell(link.name, sum(t.demand for t in link.active))

    def _tell(self, name: str, used: int) -> None:
        if self._watch is not None and self._told.get(name, 0) != used:
            self._told[name] = used
            self._watch(self._environment.tick, name, used)


def _slow_down(link: Link, granted: int) -> None:
    """Divide what a link gets among its transfers; each keeps moving, however slowly."""
    moving = [transfer for transfer in link.active if transfer.demand]
    asked = [transfer.demand for transfer in moving]
    if sum(asked) <= granted:
        return
    for transfer, wanted, share in zip(moving, asked, fair_shares(asked, granted), strict=True):
        transfer.rate = max(1, transfer.rate * share // wanted)

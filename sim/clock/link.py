"""A link that concurrent transfers share fairly.

Rates are whole bytes per second and constant between events, and what has been moved is counted in
bytes times ticks per second: all arithmetic is exact, however often transfers come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simpy.events import Event, Timeout

from .environment import Environment
from .time import TICKS_PER_SECOND

if TYPE_CHECKING:
    from .shared import Shared


@dataclass(slots=True, eq=False)
class Transfer:
    """Bytes on their way over a link.

    Attributes:
        size: bytes in all.
        limit: bytes per second that its own end can take, None for any.
        began: tick of its start.
        done: happens at the first tick at which all bytes have arrived.
        rate: bytes per second now.
        left: what has not arrived, in bytes times ticks per second.
        traffic: bytes that go over what the link shares with others, in all.
    """

    size: int
    limit: int | None
    began: int
    done: Event
    rate: int = 0
    left: int = field(default=0)
    traffic: int = 0

    @property
    def demand(self) -> int:
        """Bytes per second of `traffic` at the present rate."""
        return -(-self.rate * self.traffic // self.size)


class Link:
    """Moves bytes at no more than `rate` bytes per second in all.

    Transfers share the rate evenly; what one cannot use, because of its own limit, the others get
    (max-min fairness). The link never idles while a transfer could use it.

    Args:
        environment: whose time it lives in.
        name: what traces and messages call it.
        rate: bytes per second.
        watch: called with the tick and the bytes per second in use whenever that changes.
        beyond: what it shares with other links, such as DRAM, if anything: transfers with
            `traffic` are slowed down while all links together ask for more than there is.
    """

    def __init__(
        self,
        environment: Environment,
        name: str,
        rate: int,
        *,
        watch: Callable[[int, int], None] | None = None,
        beyond: Shared | None = None,
    ) -> None:
        if rate < 1:
            raise ValueError(f"link {name!r}: {rate} B/s; a link moves at least 1 B/s")
        self.name = name
        self.rate = rate
        self.moved = 0
        """Bytes of transfers that are done."""
        self._environment = environment
        self._watch = watch
        self._active: list[Transfer] = []
        self._since = environment.tick
        self._version = 0
        self._told = 0
        self._beyond = beyond
        if beyond is not None:
            beyond.attach(self)

    @property
    def active(self) -> tuple[Transfer, ...]:
        """Transfers under way, oldest first."""
        return tuple(self._active)

    @property
    def in_use(self) -> int:
        """Bytes per second that are being moved now."""
        return sum(transfer.rate for transfer in self._active)

    def transfer(self, size: int, *, limit: int | None = None, traffic: int = 0) -> Transfer:
        """Begin to move `size` bytes, at most `limit` bytes per second of them.

        `traffic` is how many bytes of it go over what the link shares with others. Wait for
        `.done`. Raises ValueError for sizes and limits that cannot be.
        """
        if size < 0 or (limit is not None and limit < 1):
            raise ValueError(
                f"link {self.name!r}: a transfer of {size} B at {limit} B/s at most; sizes are not "
                "negative, limits at least 1 B/s"
            )
        begun = Transfer(
            size=size,
            limit=limit,
            began=self._environment.tick,
            done=Event(self._environment),
            left=size * TICKS_PER_SECOND,
            traffic=traffic,
        )
        if size == 0:
            begun.done.succeed(begun)
            return begun
        self.advance()
        self._active.append(begun)
        self._share()
        return begun

    def close(self) -> None:
        """Forget all transfers; they are never done."""
        self._active.clear()
        self._version += 1
        if self._beyond is not None:
            self._beyond.detach(self)

    def advance(self) -> None:
        """Account for the time since rates changed last; end what is done."""
        now = self._environment.tick
        elapsed, self._since = now - self._since, now
        for transfer in self._active:
            transfer.left = max(0, transfer.left - transfer.rate * elapsed)
            if not transfer.left:
                self.moved += transfer.size
                transfer.rate = 0
                transfer.done.succeed(transfer)
        self._active = [transfer for transfer in self._active if transfer.left]

    def _share(self) -> None:
        """Give every transfer its rate; wake up when the first is done."""
        if self._beyond is not None:
            self._beyond.settle()  # other links' transfers get other rates, too
            return
        self.set_rates()
        self.plan()

    def set_rates(self) -> None:
        """Give every transfer what it can have of this link."""
        limits = [self.rate if t.limit is None else t.limit for t in self._active]
        for transfer, rate in zip(self._active, fair_shares(limits, self.rate), strict=True):
            transfer.rate = rate

    def plan(self) -> None:
        """Tell what is in use, and wake up when the first transfer is done."""
        used = self.in_use
        if self._watch is not None and used != self._told:
            self._told = used
            self._watch(self._environment.tick, used)
        self._version += 1
        if self._active:
            version = self._version
            delay = min(-(-t.left // t.rate) for t in self._active if t.rate)
            wake = Timeout(self._environment, delay)
            assert wake.callbacks is not None
            wake.callbacks.append(lambda _: self._wake(version))

    def _wake(self, version: int) -> None:
        if version == self._version:  # or rates have changed since, and this is out of date
            self.advance()
            self._share()


def fair_shares(limits: Sequence[int], rate: int) -> list[int]:
    """Shares of a rate: those with the lowest limits first, each an even share of what is left.

    The bytes per second that do not divide go to the oldest; of more transfers than there are
    bytes per second, the youngest wait.
    """
    shares = [0] * len(limits)
    left = rate
    for done, number in enumerate(sorted(range(len(limits)), key=lambda n: min(limits[n], rate))):
        share = -(-left // (len(limits) - done))
        shares[number] = min(limits[number], rate, share)
        left -= shares[number]
    return shares

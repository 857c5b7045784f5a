"""What kernels may reach: residency sets, and the memory of one dispatch cut down to it.

A kernel always reaches the buffers that are bound to it. What it finds through addresses in memory
(argument buffers, gpuAddress) must have been made resident, as on hardware: by useResource_usage_
or useHeap_ of its encoder, or by a residency set of its command buffer or queue.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ..constants import MTLResourceUsageWrite
from ..errors import MetalValidationError, NSError
from ..objects import MetalObject, UserMade, call_of, expect
from ..structs import as_integer, as_list
from ..tensors.tensor import MTLTensor
from ..textures.texture import MTLTexture
from .buffer import MTLBuffer
from .heap import MTLHeap

if TYPE_CHECKING:
    from assay.sim.simt import Memory

    from ..device import MTLDevice

Resident = MTLBuffer | MTLHeap | MTLTexture | MTLTensor
# Those of a queue and of a command buffer; the lists may still grow.
Sets = Sequence[Sequence["MTLResidencySet"]]

# Above this bit of an address is what tells buffers apart.
_HANDLE_SHIFT = 48
_WHY = (
    "which is not resident: call useResource_usage_ or useHeap_ of the encoder before the "
    "dispatch, or put it into a residency set"
)


@dataclass(slots=True, kw_only=True)
class Reach:
    """What one dispatch may reach, as it was when it was encoded; it does not change.

    Not frozen: frozen instances cost three times as much to make, and each dispatch has one.
    Addresses, not buffers: a command buffer need not keep alive what it uses. `sets` count as
    committed when the dispatch runs. Lengths of threadgroup memory may be among the `addresses`;
    they are addresses of nothing. `is_ordered` is whether barriers are known to order all that
    meets there.
    """

    addresses: Sequence[int]
    only_read: Sequence[int]
    heaps: tuple[MTLHeap, ...]
    sets: "Sets"
    is_ordered: bool

    def all_addresses(self) -> Iterator[int]:
        """GPU addresses of all buffers within reach, some perhaps twice."""
        yield from self.addresses
        for heap in self.heaps:
            yield from addresses_of(heap)
        for chosen in chain.from_iterable(self.sets):
            for resident in chosen.committed:
                yield from addresses_of(resident)


def addresses_of(resident: Resident) -> Iterator[int]:
    """GPU addresses of a buffer or texture, or of all buffers of a heap."""
    if isinstance(resident, MTLHeap):
        yield from (buffer.gpuAddress() for buffer in resident.buffers)
        for texture in resident.textures:
            yield from texture.addresses
    elif isinstance(resident, MTLTexture | MTLTensor):
        yield from resident.addresses
    else:
        yield resident.gpuAddress()


@contextmanager
def within(reach: Reach | None, device: "MTLDevice") -> "Iterator[Memory]":
    """The device's memory as far as `reach` goes; all of it for None."""
    memory = device.memory.memory
    if reach is None:
        yield memory
        return
    with memory.restricted(reach.all_addresses(), reach.only_read, _WHY) as view:
        yield view


class Residency:
    """What one encoder has made resident so far."""

    def __init__(self, sets: "Sets") -> None:
        self._usages: dict[int, int] = {}
        self._only_read: dict[int, None] = {}
        self._heaps: tuple[MTLHeap, ...] = ()
        self._sets = sets
        self._used: tuple[int, ...] | None = ()
        """All addresses of `_usages`; None until somebody asks, once there are others."""
        self.is_ordered = False  # as for `Reach`

    def use(self, addresses: Iterable[int], usage: int) -> None:
        """Make the memory at these addresses resident for later dispatches."""
        self._used = None
        for address in addresses:
            self._usages[address] = whole = self._usages.get(address, 0) | usage
            if whole & MTLResourceUsageWrite:
                self._only_read.pop(address, None)
            else:
                self._only_read[address] = None

    def use_heap(self, heap: MTLHeap) -> None:
        """Make all buffers of a heap resident for later dispatches."""
        if not any(heap is each for each in self._heaps):
            self._heaps = (*self._heaps, heap)

    def reach(self, bound: Iterable[int]) -> Reach:
        """What a dispatch that is encoded now may reach, with memory of these addresses bound."""
        if self._used is None:
            self._used = tuple(self._usages)
        handles = {address >> _HANDLE_SHIFT for address in bound}
        only_read = [each for each in self._only_read if each >> _HANDLE_SHIFT not in handles]
        return Reach(
            addresses=(*[handle << _HANDLE_SHIFT for handle in handles], *self._used),
            only_read=only_read,
            heaps=self._heaps,
            sets=self._sets,
            is_ordered=self.is_ordered,
        )


class MTLResidencySetDescriptor(UserMade):
    """How a residency set is to be."""

    _capacity = 0

    def initialCapacity(self) -> int:
        """How many allocations there is room for at once."""
        return self._capacity

    def setInitialCapacity_(self, capacity: int) -> None:
        """Accepted: sets grow as needed."""
        where = call_of(self)
        self._capacity = as_integer(where, "the capacity", capacity)


class MTLResidencySet(MetalObject):
    """Buffers and heaps that command buffers may reach, once committed."""

    def __init__(self, device: "MTLDevice", descriptor: MTLResidencySetDescriptor):
        self._device = device
        self._label = descriptor.label()
        self._members: dict[int, Resident] = {}
        self.committed: tuple[Resident, ...] = ()

    def device(self) -> "MTLDevice":
        """The device that the set belongs to."""
        return self._device

    def addAllocation_(self, allocation: Resident) -> None:
        """Add a buffer or heap, from the next commit on."""
        self._members[id(_checked("addAllocation_", allocation, self._device))] = allocation

    def addAllocations_count_(self, allocations: Sequence[Resident], count: int) -> None:
        """Add several, from the next commit on."""
        where = call_of(self)
        for allocation in as_list(where, "the allocations", allocations, count):
            self.addAllocation_(allocation)

    def removeAllocation_(self, allocation: Resident) -> None:
        """Remove a buffer or heap, from the next commit on."""
        self._members.pop(id(_checked("removeAllocation_", allocation, self._device)), None)

    def removeAllocations_count_(self, allocations: Sequence[Resident], count: int) -> None:
        """Remove several, from the next commit on."""
        where = call_of(self)
        for allocation in as_list(where, "the allocations", allocations, count):
            self.removeAllocation_(allocation)

    def removeAllAllocations(self) -> None:
        """Remove all, from the next commit on."""
        self._members.clear()

    def commit(self) -> None:
        """Make additions and removals count, for command buffers that run from now on."""
        self.committed = tuple(self._members.values())

    def requestResidency(self) -> None:
        """Accepted: everything is in memory at all times."""

    def endResidency(self) -> None:
        """Accepted: everything is in memory at all times."""

    def containsAllocation_(self, allocation: Resident) -> bool:
        """Whether the allocation was added, committed or not."""
        return id(_checked("containsAllocation_", allocation, self._device)) in self._members

    def allAllocations(self) -> tuple[Resident, ...]:
        """What was added, committed or not."""
        return tuple(self._members.values())

    def allocationCount(self) -> int:
        """How many allocations were added, committed or not."""
        return len(self._members)

    def allocatedSize(self) -> int:
        """Bytes of all committed allocations."""
        return sum(
            member.size() if isinstance(member, MTLHeap) else member.allocatedSize()
            for member in self.committed
        )


def _checked(call: str, allocation: Resident, device: "MTLDevice") -> Resident:
    where = f"MTLResidencySet.{call}"
    if not isinstance(allocation, Resident):
        raise MetalValidationError(
            f"{where}: the allocation must be an MTLBuffer, MTLTexture, MTLTensor or MTLHeap, and "
            f"is {type(allocation).__name__}"
        )
    if allocation.device() is not device:
        raise MetalValidationError(f"{where}: {allocation!r} belongs to another device")
    return allocation


def checked_set(where: str, chosen: MTLResidencySet, device: "MTLDevice") -> MTLResidencySet:
    """A residency set that a queue or command buffer is given. Raises MetalValidationError."""
    expect(where, "the residency set", chosen, MTLResidencySet)
    if chosen.device() is not device:
        raise MetalValidationError(f"{where}: {chosen!r} belongs to another device")
    return chosen


def new_residency_set(
    device: "MTLDevice", descriptor: MTLResidencySetDescriptor
) -> tuple[MTLResidencySet, NSError | None]:
    """A residency set as `descriptor` says."""
    where = "MTLDevice.newResidencySetWithDescriptor_error_"
    expect(where, "the descriptor", descriptor, MTLResidencySetDescriptor)
    return MTLResidencySet(device, descriptor), None

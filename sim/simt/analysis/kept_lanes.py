"""Which lanes of a simdgroup have to run, since the others do nothing that these do not do too.

A lane is left out if a lower one does all that it does: it computes the same, or has left the work
by its position, as under `if (local.y * 4 < 8)`. What is kept is the lower lane, so that a fault is
reported with the thread that it has always been reported with.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.cfg import Cfg
from ..ir.nodes import AddressRoot, Block, Function, Instruction, Value, is_private
from ..ir.operations.control import PHI
from ..ir.operations.memory import ADDRESS
from ..ir.operations.operation import Lanes, OfThread, Variation
from ..ir.shape import LANES, Shape
from .divergence import Divergence
from .linear import LinearForms
from .written_places import WrittenPlaces

ALL_LANES = tuple(range(LANES))
# More lanes than these are not worth a width of their own.
_MOST = LANES // 2
_FEWEST = 2
_OF_OTHERS = frozenset({Variation.ALWAYS, Variation.AS_LAST, Variation.IN_CLUSTERS})


def find_needed_lanes(
    function: Function, cfg: Cfg, divergence: Divergence, linear: LinearForms, shape: Shape
) -> tuple[int, ...]:
    """The lanes to run, ascending; all of them if that is as good."""
    if not cfg.reducible or function.apart or not all(map(_is_own, function.instructions())):
        return ALL_LANES
    return _KeptLanes(function, cfg, divergence, linear, shape).find()


def in_vectors(needed: tuple[int, ...]) -> tuple[int, ...]:
    """The lanes that are needed, and others that fill a vector of a power of two."""
    count = max(_FEWEST, 1 << (len(needed) - 1).bit_length())
    others = [lane for lane in ALL_LANES if lane not in needed]
    return tuple(sorted([*needed, *others[: count - len(needed)]]))


def _is_own(instruction: Instruction) -> bool:
    operation = instruction.operation
    if operation is ADDRESS and is_private(instruction.root):
        return False  # or others' arrays could be reached through it
    return operation.lanes is Lanes.OWN and not operation.is_atomic


class _KeptLanes:
    """Goes through the lanes of one function, which has no operations across lanes."""

    def __init__(
        self,
        function: Function,
        cfg: Cfg,
        divergence: Divergence,
        linear: LinearForms,
        shape: Shape,
    ) -> None:
        self._cfg = cfg
        self._divergence = divergence
        self._forms = linear.forms
        self._known = linear.known
        self._lanes = range(min(LANES, shape.threads))
        # Backwards, for lanes mostly differ in what they write, at the end.
        self._accesses = [
            (block, each)
            for block in reversed(cfg.order)
            for each in reversed(block.body)
            if each.operation.accesses_memory
        ]
        self._places = WrittenPlaces(divergence, linear)
        self._reached: dict[int, set[Block]] = {}
        self._same_as: dict[int, int] = {}  # the kept lane that does what a lane does

    def find(self) -> tuple[int, ...]:
        """The lanes to run."""
        kept: list[int] = []
        for lane in self._lanes:
            self._reached[lane] = self._reach(lane)
            found = next((each for each in kept if self._does_all_of(each, lane)), None)
            if found is None:
                kept.append(lane)
            if len(kept) > _MOST:
                return ALL_LANES
            self._same_as[lane] = lane if found is None else found
        return tuple(kept)

    # -- where a lane can come ------------------------------------------------------------------

    def _reach(self, lane: int) -> set[Block]:
        """Blocks that a lane may come to, as far as its positions tell."""
        reached: set[Block] = set()
        work = [self._cfg.order[0]]
        while work:
            block = work.pop()
            if block not in reached:
                reached.add(block)
                work += self._ways(block, lane)
        return reached

    def _ways(self, block: Block, lane: int) -> list[Block]:
        condition = block.condition
        if condition is None or block not in self._divergence.divergent:
            return block.targets
        known = self._known.of(condition, lane)
        if known is None:
            return block.targets
        return [block.targets[not each] for each in set(known)]

    # -- comparing two lanes --------------------------------------------------------------------

    def _does_all_of(self, kept: int, lane: int) -> bool:
        """Whether all that a lane does is done by a lower one too, in the same moments."""
        reached = self._reached[lane]
        if not reached <= self._reached[kept]:
            return False
        pair = _Pair(self, kept, lane)
        accesses = [each for block, each in self._accesses if block in reached]
        while True:
            if not all(pair.alike(_looked_at(each)) for each in accesses):
                return False
            meetings = self._meetings(pair)
            if meetings is None:
                return False
            if meetings <= pair.meetings:
                return self._keeps_last_writes(kept, lane, accesses)
            pair = _Pair(self, kept, lane, pair.meetings | meetings)

    def _meetings(self, pair: _Pair) -> set[Block] | None:
        """Where the two meet again that part on their way; None if the upper one goes astray.

        It may not do anything by itself: it goes where they meet, and waits there.
        """
        found: set[Block] = set()
        for block in self._reached[pair.upper]:
            condition = block.condition
            if condition is None or block not in self._divergence.divergent:
                continue
            if pair.alike([condition]):
                continue
            meeting = self._cfg.postdominator[block]
            loops = self._cfg.loops_of(block)
            if meeting is None or any(meeting not in loop.blocks for loop in loops):
                return None
            if self._ways(block, pair.upper) != [meeting]:
                return None
            found.add(meeting)
        return found

    def _keeps_last_writes(self, kept: int, lane: int, accesses: list[Instruction]) -> bool:
        """Whether no lane between the two writes where they do: the last one's value stays."""
        for write in accesses:
            if not write.operation.writes_memory or is_private(write.root):
                continue
            for other in self._places.crossed(write, kept):
                assert write.block is not None
                if (
                    kept < other < lane
                    and self._same_as[other] != kept
                    and write.block in self._reached[other]
                ):
                    return False
        return True


def _looked_at(access: Instruction) -> list[Value]:
    """What an access does depends on, and nothing else."""
    root = access.root
    return [root.address, *access.operands] if isinstance(root, AddressRoot) else access.operands


class _Pair:
    """Compares what a lane and a lower one hold, where they meet again in `meetings`."""

    def __init__(
        self, lanes: _KeptLanes, kept: int, lane: int, meetings: set[Block] | None = None
    ) -> None:
        self._of = lanes
        self._kept = kept
        self.upper = lane
        self.meetings: set[Block] = meetings or set()
        self._alike: set[Value] = set()

    def alike(self, values: list[Value]) -> bool:
        """Whether both hold the same, whenever the upper lane holds anything.

        What is asked for again on the way counts as the same: where a loop's values are equal if
        they were equal one round before, they are.
        """
        asked: set[Value] = set()
        work = values[::-1]
        while work:
            value = work.pop()
            if value in asked or value in self._alike:
                continue
            asked.add(value)
            needed = self._needed(value)
            if needed is None:
                return False
            work += needed
        self._alike |= asked
        return True

    def _needed(self, value: Value) -> list[Value] | None:
        """What must be alike for a value to be; None if it is not."""
        if not isinstance(value, Instruction):
            return []
        operation = value.operation
        if operation is PHI and value.block in self.meetings:
            return None
        if not self._of._divergence.is_varying(value):
            return []
        form = self._of._forms.get(value)
        if form is not None and not form.guards:
            patterns = (form.lanes, *(pattern for _, pattern in form.terms))
            return [] if all(each[self._kept] == each[self.upper] for each in patterns) else None
        if isinstance(operation.meaning, OfThread):
            return [] if self._of._known.equal(value, self._kept, self.upper) else None
        if is_private(value.root) and self._has_written_more():
            return None
        return None if operation.result in _OF_OTHERS else list(self._sources(value))

    def _sources(self, value: Instruction) -> Iterator[Value]:
        yield from value.operands
        if isinstance(value.root, AddressRoot):
            yield value.root.address

    def _has_written_more(self) -> bool:
        """Whether the lower lane may have written to its arrays where the upper one never was."""
        reached = self._of._reached[self.upper]
        return any(
            each.operation.writes_memory and is_private(each.root) and block not in reached
            for block, each in self._of._accesses
        )

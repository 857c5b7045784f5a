"""Host programs as data: queues, encoders, fences, events, barriers and what the host does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from .oracle import Oracle, clashes

REGIONS = 4
MODES = ("tracked", "untracked", "heap", "tracked heap")
KERNELS = ("put", "move", "count")
BLITS = ("fill", "copy")

Place = tuple[int, int]
"""(buffer, region of it)"""


@dataclass(slots=True, kw_only=True, eq=False)
class Command:
    """A dispatch or a copy; `source` is read, `target` written."""

    what: str
    source: Place | None
    target: Place

    def uses(self) -> Iterator[tuple[Place, bool, bool]]:
        """What it touches: (place, whether it writes, whether atomically)."""
        if self.source is not None:
            yield self.source, False, False
        if self.what == "count":
            yield self.target, False, True
        yield self.target, True, self.what == "count"


@dataclass(slots=True, kw_only=True, eq=False)
class Sync:
    """Something that orders; `left_out` says that the program lacks it."""

    what: str
    left_out: bool = False
    buffers: frozenset[int] = frozenset()  # of a barrier that names some; else for all


@dataclass(slots=True, kw_only=True, eq=False)
class Pass:
    """An encoder: barriers by the number of commands before them, fences that it knows."""

    number: int
    kind: str
    commands: list[Command] = field(default_factory=list)
    barriers: list[tuple[int, Sync]] = field(default_factory=list)
    updates: list[Sync] = field(default_factory=list)
    waits: list[Sync] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class Buffer:
    """A command buffer: its events by the number of passes before them."""

    number: int
    queue: int
    passes: list[Pass]
    waits: list[tuple[int, Sync]] = field(default_factory=list)
    signals: list[tuple[int, Sync]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class Access:
    """The host reads or writes a place."""

    place: Place
    write: bool

    def uses(self) -> Iterator[tuple[Place, bool, bool]]:
        """What it touches."""
        yield self.place, self.write, False


@dataclass(slots=True, kw_only=True, eq=False)
class Wait:
    """The host waits for a command buffer."""

    buffer: Buffer
    sync: Sync


Step = Buffer | Access | Wait


@dataclass(slots=True, kw_only=True, eq=False)
class Plan:
    """A program: what the host does in turn, and the hazard modes of its buffers."""

    modes: list[str]
    steps: list[Step]
    syncs: list[Sync] = field(default_factory=list)

    def order_all(self, chance: random.Random) -> None:
        """Put something between any two that are not ordered, until all are."""
        while (pair := next(clashes(self), None)) is not None:
            self._order(*pair, chance)

    def _order(self, first: object, second: object, chance: random.Random) -> None:
        oracle = Oracle(self)
        before = oracle.homes[first]
        if isinstance(second, Access):
            assert before is not None
            wait = Wait(buffer=before[0], sync=self._sync("wait"))
            self.steps.insert(self.steps.index(second), wait)
            return
        assert isinstance(second, Command)
        after = oracle.homes[second]
        assert before is not None and after is not None
        if before[1] is after[1]:
            shared = {place[0] for place, *_ in second.uses()} if chance.random() < 0.5 else set()
            barrier = self._sync("barrier", frozenset(shared))
            after[1].barriers.append((after[1].commands.index(second), barrier))
        elif before[0].queue == after[0].queue:
            fence = self._sync("fence")
            before[1].updates.append(fence)
            after[1].waits.append(fence)
        else:
            event = self._sync("event")
            end = before[0].passes.index(before[1]) + 1
            before[0].signals.append((chance.randint(end, len(before[0].passes)), event))
            start = after[0].passes.index(after[1])
            after[0].waits.append((chance.randint(0, start), event))

    def _sync(self, what: str, buffers: frozenset[int] = frozenset()) -> Sync:
        made = Sync(what=what, buffers=buffers)
        self.syncs.append(made)
        return made


def random_plan(seed: int) -> Plan:
    """A program in which all is ordered that must be, or in which one thing is spoilt."""
    chance = random.Random(seed)
    modes = [chance.choice(MODES) for _ in range(chance.randint(2, 4))]
    queues, numbers = chance.randint(1, 3), count()
    steps: list[Step] = []
    for number in range(chance.randint(1, 5)):
        passes = [_pass(chance, next(numbers), len(modes)) for _ in range(chance.randint(1, 3))]
        steps.append(Buffer(number=number, queue=chance.randrange(queues), passes=passes))
        steps += [
            Access(place=_place(chance, len(modes)), write=chance.random() < 0.4)
            for _ in range(chance.choice((0, 0, 0, 1, 1, 2)))
        ]
    plan = Plan(modes=modes, steps=steps)
    _add_noise(plan, chance)
    plan.order_all(chance)
    if plan.syncs and chance.random() < 0.75:
        _spoil(chance.choice(plan.syncs), chance, len(modes))
    return plan


def _spoil(sync: Sync, chance: random.Random, buffers: int) -> None:
    """Leave something out; of barriers some are for another buffer instead."""
    if sync.what == "barrier" and chance.random() < 0.5:
        sync.buffers = frozenset({chance.randrange(buffers)})
    else:
        sync.left_out = True


def _pass(chance: random.Random, number: int, buffers: int) -> Pass:
    kind = chance.choice(("serial", "concurrent", "concurrent", "blit"))
    made = Pass(number=number, kind=kind)
    for _ in range(chance.randint(1, 4)):
        what = chance.choice(BLITS if kind == "blit" else KERNELS)
        source, target = _place(chance, buffers), _place(chance, buffers)
        if what not in ("move", "copy") or source == target:
            what = what if what not in ("move", "copy") else ("fill" if kind == "blit" else "put")
            made.commands.append(Command(what=what, source=None, target=target))
        else:
            made.commands.append(Command(what=what, source=source, target=target))
    return made


def _place(chance: random.Random, buffers: int) -> Place:
    return chance.randrange(buffers), chance.randrange(REGIONS)


def _add_noise(plan: Plan, chance: random.Random) -> None:
    """Barriers, fences and waits that may or may not order anything."""
    for buffer in [step for step in plan.steps if isinstance(step, Buffer)]:
        for each in buffer.passes:
            if each.kind == "concurrent" and chance.random() < 0.3:
                named = frozenset({chance.randrange(len(plan.modes))})
                place = chance.randint(0, len(each.commands))
                each.barriers.append((place, plan._sync("barrier", named)))
        if len(buffer.passes) > 1 and chance.random() < 0.3:
            fence = plan._sync("fence")
            first, second = sorted(chance.sample(range(len(buffer.passes)), 2))
            buffer.passes[first].updates.append(fence)
            buffer.passes[second].waits.append(fence)
        if chance.random() < 0.2:
            place = plan.steps.index(buffer) + 1
            plan.steps.insert(place, Wait(buffer=buffer, sync=plan._sync("wait")))

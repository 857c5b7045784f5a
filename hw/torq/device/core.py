"""The CSS core at work: what lets it run, what its task waits for, and what it reports."""

from collections.abc import Generator
from dataclasses import dataclass

from ..facts.costs import Machine
from . import status
from .css import CssFunction, CssSteps, CssTasks, CssView, CssWait
from .events import Work
from .memories import Memories
from .record import Record
from .register_file import RegisterFile
from .schedule import Schedule


@dataclass(slots=True, kw_only=True)
class _Task:
    """A task under way; `since` is when its present part or wait began."""

    name: str
    pc: int
    at: int
    begin: int
    view: CssView
    steps: CssSteps
    since: int
    waiting: int = 0


class Core:
    """The core; `task` is what it does now."""

    def __init__(
        self,
        machine: Machine,
        memories: Memories,
        schedule: Schedule,
        registers: RegisterFile,
        record: Record,
    ) -> None:
        self.tasks = CssTasks()
        self.task: _Task | None = None
        self._machine, self._memories, self._schedule = machine, memories, schedule
        self._registers, self._record = registers, record
        registers.on_write("CPU.CTL.reset", self._control)
        registers.on_write("CSS.MBX_IRQ_0.irq", self._ring)
        registers.watch(self.look)

    @property
    def waiting(self) -> int:
        """What its task waits for and has not come, as a mask; 0 if it does not wait."""
        waiting = self.task.waiting if self.task is not None else 0
        return waiting & ~self._registers.pending.for_core()

    def reset(self) -> None:
        """Forgets its task."""
        self.task = None

    def look(self) -> None:
        """Goes on if what its task waits for has come."""
        task = self.task
        if task is None or not task.waiting or self.waiting:
            return
        mask, task.waiting = task.waiting, 0
        self._tell(mask)
        image = self._registers.image("css")
        for bit, field in status.MAILBOXES.items():
            if mask >> bit & 1:
                image[field] = 0
        self._registers.put("css", image)
        if self._schedule.now > task.since:
            self._record.events.append(
                Work(
                    unit="CSS",
                    what="wait",
                    begin=task.since,
                    end=self._schedule.now,
                    address=task.at,
                    waits_for=status.names(mask),
                )
            )
        self._schedule.after(0, self._go)

    def _tell(self, mask: int) -> None:
        """Tells the watcher of a wait that is over: what comes now is another run of the core."""
        watcher, task = self._record.watcher, self.task
        if watcher is not None and task is not None:
            units = [unit for unit, bit in status.UNIT_BITS.items() if mask >> bit & 1]
            watcher.join([*units, "CSS"])
            watcher.start("CSS", task.at)

    def _control(self, value: int, at: int) -> None:
        """CPU.CTL: the end of a reset with the clock on lets the core run."""
        if value == 0:
            self._start(at)

    def _ring(self, value: int, at: int) -> None:
        """Mailbox 0: wakes a core that is out of reset, unless its task waits for just that."""
        awaited = self.task is not None and self.task.waiting >> status.MBX0 & 1
        if value & 1 and not awaited and not self._registers.image("cpu")["CPU.CTL.reset"]:
            self._start(at)

    def _start(self, at: int) -> None:
        begin = self._record.begin("CSS", at)
        css = self._registers.image("css")
        boxes = tuple(css[f"CSS.MBX_DAT_{k}.data"] for k in range(4))
        pc = self._registers.image("cpu")["CPU.PCSTART.pc"]
        name, function = self.tasks.find(self._memories, pc)
        view = CssView(self._memories, (boxes[0], boxes[1], boxes[2], boxes[3]))
        steps = _steps(function, view, self._machine.css_task)
        self.task = _Task(name=name, pc=pc, at=at, begin=begin, view=view, steps=steps, since=begin)
        self._go()

    def _go(self) -> None:
        """Does the next part of the task, or ends it; a part's accesses last as long as it."""
        task = self.task
        if task is None:
            return
        for piece in task.view.touched:
            bounds = ((piece.start, piece.stop),)
            self._record.touch(
                "CSS", task.name, piece.memory, piece.writes, task.since, bounds, task.at
            )
        task.view.touched.clear()
        task.since = self._schedule.now
        step = next(task.steps, None)
        if self._record.watcher is not None:
            touched = [(t.memory, t.start, t.stop, t.writes) for t in task.view.touched]
            self._record.watcher.core(task.name, task.at, touched)
        if step is None:
            self._finish(task)
        elif isinstance(step, CssWait):
            task.waiting = step.mask
            self.look()
        else:
            self._schedule.after(step, self._go)

    def _finish(self, task: _Task) -> None:
        self.task = None
        self._record.finish("CSS", "css", task.begin, task.at, limit=task.name)
        image = self._registers.image("css")
        image["CSS.MBX_IRQ_0.irq"], image["CSS.MBX_IRQ_1.irq"] = 0, 1
        self._registers.put("css", image)


def _steps(function: CssFunction, view: CssView, cycles: int) -> CssSteps:
    """Any task in parts; one that says nothing takes `cycles`."""
    spent = function(view)
    if isinstance(spent, Generator):
        spent = yield from spent
        cycles = 0
    yield cycles if spent is None else spent
    return None

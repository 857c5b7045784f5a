"""The CSS core at work: what lets it run, and what it reports."""

from collections.abc import Callable

from ..costs import Machine
from .css import CssTasks, CssView
from .memories import Memories
from .record import Record
from .register_file import RegisterFile
from .schedule import Schedule


class Core:
    """The core; `done` is called when a task has ended."""

    def __init__(
        self,
        machine: Machine,
        memories: Memories,
        schedule: Schedule,
        registers: RegisterFile,
        record: Record,
        *,
        done: Callable[[], None],
    ) -> None:
        self.tasks = CssTasks()
        self._machine, self._memories, self._schedule = machine, memories, schedule
        self._registers, self._record, self._done = registers, record, done
        registers.on_write("CPU.CTL.reset", self._control)
        registers.on_write("CSS.MBX_IRQ_0.irq", self._ring)

    def _control(self, value: int, at: int) -> None:
        """CPU.CTL: the end of a reset with the clock on lets the core run."""
        if value == 0:
            self._start(at)

    def _ring(self, value: int, at: int) -> None:
        """Mailbox 0: wakes a core that is out of reset."""
        if value & 1 and not self._registers.image("cpu")["CPU.CTL.reset"]:
            self._start(at)

    def _start(self, at: int) -> None:
        begin = self._record.begin("CSS", at)
        css = self._registers.image("css")
        boxes = tuple(css[f"CSS.MBX_DAT_{k}.data"] for k in range(4))
        pc = self._registers.image("cpu")["CPU.PCSTART.pc"]
        name, function = self.tasks.find(self._memories, pc)
        view = CssView(self._memories, (boxes[0], boxes[1], boxes[2], boxes[3]))
        spent = function(view)
        if self._record.checker is not None:
            self._record.checker.core(
                name, at, [(t.memory, t.start, t.stop, t.writes) for t in view.touched]
            )

        def finish() -> None:
            for piece in view.touched:
                bounds = ((piece.start, piece.stop),)
                self._record.touch("CSS", name, piece.memory, piece.writes, begin, bounds, at)
            self._record.finish("CSS", "css", begin, at, limit=name)
            image = self._registers.image("css")
            image["CSS.MBX_IRQ_0.irq"], image["CSS.MBX_IRQ_1.irq"] = 0, 1
            self._registers.put("css", image)
            self._done()

        self._schedule.after(self._machine.css_task if spent is None else spent, finish)

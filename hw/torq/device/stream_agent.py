"""A configuration agent: fetches command words, writes registers, waits, follows links."""

from collections.abc import Callable

from ..faults import Busy, Misaligned, TorqFault
from ..lram import Lram
from ..words.stream import (
    ADDRESS_MASK,
    CFG_OPCODE,
    COUNT_MASK,
    COUNT_SHIFT,
    LAST,
    LINK_MASK,
    NXT_OPCODE,
    OPCODE_MASK,
    OPCODE_SHIFT,
    SUB_OPERATION_SHIFT,
    SUB_OPERATIONS,
    SYN_OPCODE,
)
from .schedule import Schedule

WAIT_ALL, WAIT_ANY, SET, CLEAR = range(len(SUB_OPERATIONS))
LONGEST_PROGRAM = 1 << 20
"""Command words after which a program that never ends is given up."""
LONGEST_IDLE = 1 << 13
"""The same for words without a wait between them."""


class StreamAgent:
    """One agent with its program counter.

    Args:
        write: writes a word to the agent's register space: (address, value, address of the CFG).
        pending: the status bits that waits look at.
        change: sets (True) or clears status bits.
        ended: called when the last command is done.
        waited: called when a wait is over: (mask, since when, till when, where).
        fetched: told which words were fetched, (start, stop), if anybody wants to know.
    """

    def __init__(
        self,
        name: str,
        lram: Lram,
        schedule: Schedule,
        fetch: int,
        *,
        write: Callable[[int, int, int], None],
        pending: Callable[[], int],
        change: Callable[[int, bool], None],
        ended: Callable[[], None],
        waited: Callable[[int, int, int, int], None],
        fetched: Callable[[int, int], None] | None = None,
        limit: int = LONGEST_PROGRAM,
    ) -> None:
        self.name = name
        self.running = False
        self.waiting: tuple[int, bool] | None = None
        self.pc = 0
        self._lram, self._schedule, self._fetch = lram, schedule, fetch
        self._write, self._pending, self._change = write, pending, change
        self._ended, self._waited, self._fetched = ended, waited, fetched
        self._since = 0
        self._last = False
        self._words = 0
        self._waited_at = 0
        self._limit = limit

    def start(self, pc: int) -> None:
        """Begins a program at an LRAM address. Raises TorqFault when one is running."""
        if self.running:
            raise Busy(
                f"is started at {pc:#x} while its program at {self.pc:#x} still runs",
                unit=self.name,
            )
        self.running, self.pc = True, pc
        self._words = self._waited_at = 0
        self._schedule.after(0, self._command)

    def stop(self) -> None:
        """Forgets its program."""
        self.running, self.waiting = False, None

    def _command(self) -> None:
        """Executes the command at the program counter; the next follows when its words came."""
        if not self.running:
            return
        at = self.pc
        if at % 4:
            raise Misaligned(
                f"command words start at {at:#x}, which is no multiple of 4",
                unit=self.name,
                address=at,
            )
        word = self._lram.word(at, self.name)
        if self._fetched is not None:
            data = word >> COUNT_SHIFT & COUNT_MASK if word >> OPCODE_SHIFT & 7 == 1 else 0
            self._fetched(at, at + 4 + 4 * data)
        operation = word >> OPCODE_SHIFT & OPCODE_MASK
        self._last = bool(word & LAST)
        if operation == CFG_OPCODE:
            self._configure(at, word)
        elif operation == SYN_OPCODE:
            self._synchronise(word)
        elif operation == NXT_OPCODE:
            self.pc, self._last = word & LINK_MASK, False
            self._next(1)
        else:
            raise TorqFault(
                f"the word {word:#010x} at {at:#x} is no command: its operation is {operation}, "
                f"known are {CFG_OPCODE} (CFG), {SYN_OPCODE} (SYN), {NXT_OPCODE} (NXT)",
                unit=self.name,
                address=at,
            )

    def _configure(self, at: int, word: int) -> None:
        count, address = word >> COUNT_SHIFT & COUNT_MASK, word & ADDRESS_MASK
        values = [self._lram.word(at + 4 + 4 * k, self.name) for k in range(count)]
        self.pc = at + 4 + 4 * count

        def arrive() -> None:
            for k, value in enumerate(values):
                self._write(address + 4 * k, value, at)
            self._next(0)

        self._pass(1 + count)
        self._schedule.after(self._fetch * (1 + count), arrive)

    def _synchronise(self, word: int) -> None:
        mask, kind = word & ADDRESS_MASK, word >> SUB_OPERATION_SHIFT & 0xF
        if kind >= len(SUB_OPERATIONS):
            raise TorqFault(
                f"the SYN at {self.pc:#x} asks for sub-operation {kind}; there are "
                f"0 to {len(SUB_OPERATIONS) - 1}",
                unit=self.name,
                address=self.pc,
            )
        if kind in (SET, CLEAR):
            self._change(mask, kind == SET)
        elif mask:
            self.waiting, self._since = (mask, kind == WAIT_ANY), self._schedule.now
            self.look()
            return
        self.pc += 4
        self._next(1)

    def look(self) -> None:
        """Goes on if what it waits for has come."""
        if self.waiting is None or not self.running:
            return
        mask, any_will_do = self.waiting
        seen = self._pending() & mask
        if not (seen if any_will_do else seen == mask):
            return
        self.waiting = None
        self._waited_at = self._words
        self._waited(seen, self._since, self._schedule.now, self.pc)
        self.pc += 4
        self._next(1)

    def _next(self, words: int) -> None:
        """Goes on behind `words` words that were fetched, or ends."""
        self._pass(words)

        def go() -> None:
            if not self.running:
                return
            if self._last:
                self.running = False
                self._ended()
            else:
                self._command()

        self._schedule.after(self._fetch * words, go)

    def _pass(self, words: int) -> None:
        self._words += words
        if self._words > self._limit or self._words - self._waited_at > LONGEST_IDLE:
            raise TorqFault(
                f"has fetched {self._words} command words without an end; the last from "
                f"{self.pc:#x}",
                unit=self.name,
                address=self.pc,
            )

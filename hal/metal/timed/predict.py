"""One dispatch: taped on the emulated device, lowered to machine code, simulated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from assay.hw.apple.core.sampled import sampled_dispatch, tape_sample
from assay.hw.apple.lower.lower import lower

from ..emulated.commands.timing import Size, tape_command, threadgroups_in
from .backlog import Backlog, Taped
from .caches import CacheHistory, Uses
from .keys import DispatchKey, Keys
from .prediction import Prediction

if TYPE_CHECKING:
    from assay.hw.apple.core.result import DispatchTime
    from assay.hw.apple.core.sampled import SampledDispatch
    from assay.hw.apple.facts.chips import Chip
    from assay.hw.apple.lower.code import MachineCode
    from assay.sim.simt import Program
    from assay.sim.simt.emit.tape import Tape

    from ..emulated import MTLDevice
    from ..emulated.commands.commands import DispatchCommand

_SHOWN = 16  # threadgroups of which a timeline shows the arrays
_MANY = 1 << 30  # threadgroups: more than any chip holds at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What tells how a dispatch goes; `varies` if its tape has to, too.

    `uses` are the caches' concern, None if they are not asked.
    """

    key: DispatchKey
    varies: bool
    uses: Uses | None
    grid: Size


class ChipPredictor:
    """Predicts dispatches on one chip; those that do the same are simulated once.

    Two dispatches do the same if their keys are equal and no branch or address of the kernel
    depends on what buffers hold. Where one does, each dispatch is taped, and simulated unless
    the tape is one that was seen before.

    Args:
        chip: which GPU.
        warm: whether caches hold what an earlier run of the same dispatch left; None to tell by
            what the program ran before.
        keep: keep tapes and what a core's simdgroups did, for a timeline.
        say: called before each simulation, with a few words.
    """

    def __init__(
        self,
        chip: Chip,
        *,
        warm: bool | None = None,
        keep: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.chip = chip
        self.simulations = 0
        """How many were made so far."""
        self._warm = warm
        self._history = CacheHistory(chip.slc)
        self._keys = Keys()
        self._backlog = Backlog()
        self._keep = keep
        self._say = say
        self._code: dict[Program, MachineCode] = {}
        self._dispatches: dict[DispatchKey, SampledDispatch] = {}
        self._known: dict[tuple[DispatchKey, bool, bytes], Prediction] = {}
        self._varying: dict[DispatchKey, bool] = {}

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        """The prediction for a dispatch that is about to run, and is next in the program."""
        look = self._look(device, command)
        return self._predicted(
            look,
            lambda: self._taped(look, device, command),
            lambda taped: self._shown(taped, device, command),
        )

    def later(self, device: MTLDevice, command: DispatchCommand) -> Callable[[], Prediction]:
        """Tape a dispatch that is about to run; what predicts it when it is next."""
        look = self._look(device, command)
        if not look.varies and all((look.key, warm, b"") in self._known for warm in (False, True)):
            return lambda: self._predicted(look, _not_taped, lambda _: None)
        taped = self._taped(look, device, command)
        taped = replace(taped, shown=self._shown(taped, device, command))
        held = self._backlog.kept(look.key, taped)
        return lambda: self._predicted(look, lambda: held, lambda _: held.shown)

    def _look(self, device: MTLDevice, command: DispatchCommand) -> _Look:
        key = self._keys.key_of(device, command)
        varies = self._varying.get(key)
        if varies is None:
            varies = self._varying[key] = key.depends_on_data
        uses = self._history.uses(device, command) if self._warm is None else None
        return _Look(key=key, varies=varies, uses=uses, grid=threadgroups_in(command))

    def _predicted(
        self, look: _Look, taped: Callable[[], Taped], shown: Callable[[Taped], Tape | None]
    ) -> Prediction:
        """The prediction; what was taped, and is shown, is asked for only if it is needed."""
        warm = self._warm if look.uses is None else self._history.is_warm(look.uses)
        assert warm is not None
        known = None if look.varies else self._known.get((look.key, warm, b""))
        prediction = known or self._simulated(look, warm, taped(), shown)
        if look.uses is not None:
            self._history.ran(look.uses, prediction.time.bytes.get("dram", 0.0))
        return prediction

    def _taped(self, look: _Look, device: MTLDevice, command: DispatchCommand) -> Taped:
        self._tell(f"taping {look.key.executable.program.name}")
        dispatch, tape = tape_sample(
            self._dispatch(look), lambda positions: tape_command(device, command, positions)
        )
        return Taped(dispatch=dispatch, tape=tape, digest=_digest(tape))

    def _shown(self, taped: Taped, device: MTLDevice, command: DispatchCommand) -> Tape | None:
        """The first threadgroups once more, with where in threadgroup memory they are."""
        if not self._keep:
            return None
        shown = taped.dispatch.sample.positions[:_SHOWN]
        return tape_command(device, command, shown, places=True)

    def _simulated(
        self,
        look: _Look,
        warm: bool,
        taped: Taped,
        shown: Callable[[Taped], Tape | None],
    ) -> Prediction:
        ident = (look.key, warm, taped.digest if look.varies else b"")
        known = self._known.get(ident)
        if known is not None:
            return known
        self._tell(f"simulating {look.key.executable.program.name}")
        dispatch = taped.dispatch
        time = dispatch.simulated(
            taped.tape,
            warm=warm,
            footprint=look.key.footprint,
            timeline=self._keep,
        )
        self.simulations += 1
        slots = dispatch.resident(_MANY).threadgroups * self.chip.cores
        prediction = self._known[ident] = Prediction(
            time=time, share=_share(time, slots, self.chip), tape=shown(taped)
        )
        return prediction

    def _dispatch(self, look: _Look) -> SampledDispatch:
        """The dispatch as the core model has it, with the threadgroups that stand for all."""
        known = self._dispatches.get(look.key)
        if known is None:
            known = self._dispatches[look.key] = sampled_dispatch(
                self.chip,
                look.key.executable,
                look.grid,
                given_memory=_given_memory(look.key),
                code=self._lowered(look.key.executable.program),
            )
        return known

    def _lowered(self, program: Program) -> MachineCode:
        code = self._code.get(program)
        if code is None:
            code = self._code[program] = lower(program.taped_function)
        return code

    def _tell(self, text: str) -> None:
        if self._say is not None:
            self._say(text)


def _given_memory(key: DispatchKey) -> int:
    """Bytes of threadgroup memory that the host gives."""
    given = (token for token in key.arguments if token[0] == "threadgroup")
    return sum(int(str(length)) for _, length in given)


def _share(time: DispatchTime, slots: int, chip: Chip) -> float:
    """Part of the GPU that is taken: of places for threadgroups, of pipes, or of bandwidth."""
    placed = time.threadgroups / max(1, slots)
    pipes = max(time.pipes.values(), default=0.0) / time.cycles * time.cores / chip.cores
    dram = time.achieved_bytes.get("dram", 0.0) / time.roofline.bytes_per_second
    return min(1.0, max(placed, pipes, dram, 1e-6))


def _not_taped() -> NoReturn:
    raise AssertionError("both predictions of the key are known")


def _digest(tape: Tape) -> bytes:
    digest = hashlib.blake2b(tape.words.tobytes(), digest_size=16)
    digest.update(tape.starts.tobytes())
    return digest.digest()

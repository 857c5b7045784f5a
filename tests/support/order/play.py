"""Runs a planned program on the emulated Metal, under the check for races."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import checking
from assay.sim.check import Checker, Finding
from tests.hal.metal.order.script import CONCURRENT, SERIAL, SHARED, Script, ints

from .oracle import Oracle, judged
from .plan import REGIONS, Access, Buffer, Command, Pass, Plan, Sync, Wait

REGION = 128  # bytes
COUNT = REGION // 4
SIZE = REGION * REGIONS
_UNTRACKED = SHARED | Metal.MTLResourceHazardTrackingModeUntracked
_HEAPS = {
    "heap": Metal.MTLHazardTrackingModeDefault,
    "tracked heap": Metal.MTLHazardTrackingModeTracked,
}
_ENCODER = re.compile(r"encoder 'p(\d+)'")

Wrong = tuple[str, str]
"""(kind of finding, label of the buffer)"""


class Player:
    """One run of one plan."""

    def __init__(self, script: Script, plan: Plan) -> None:
        self._script, self._plan = script, plan
        self._fences: dict[Sync, Metal.MTLFence] = {}
        self._events: dict[Sync, Metal.MTLEvent] = {}
        self._committed: dict[Buffer, Metal.MTLCommandBuffer] = {}

    def run(self) -> tuple[Finding, ...]:
        """What the check finds."""
        with checking(Checker(["race"])) as checker:
            self._buffers = [self._made(*each) for each in enumerate(self._plan.modes)]
            for step in self._plan.steps:
                if isinstance(step, Buffer):
                    self._commit(step)
                elif isinstance(step, Wait):
                    if not step.sync.left_out:
                        self._committed[step.buffer].waitUntilCompleted()
                else:
                    self._access(step)
            for commands in self._committed.values():
                commands.waitUntilCompleted()
                assert commands.error() is None, commands.error()
        return checker.findings

    def _made(self, number: int, mode: str) -> Metal.MTLBuffer:
        device, label = self._script.device, f"b{number}"
        if mode in _HEAPS:
            made = self._script.heap(_HEAPS[mode]).newBufferWithLength_options_(SIZE, SHARED)
            assert made is not None
        else:
            options = _UNTRACKED if mode == "untracked" else SHARED
            made = device.newBufferWithLength_options_(SIZE, options)
        made.setLabel_(label)
        return made

    def _access(self, access: Access) -> None:
        buffer, region = access.place
        part = ints(self._buffers[buffer])[region * COUNT : (region + 1) * COUNT]
        if access.write:
            part[:] = 5
        else:
            part.sum()

    def _commit(self, buffer: Buffer) -> None:
        commands = self._script.commands(f"c{buffer.number}", self._script.queues[buffer.queue])
        for place in range(len(buffer.passes) + 1):
            for at, sync in buffer.signals:
                if at == place and not sync.left_out:
                    commands.encodeSignalEvent_value_(self._event(sync), 1)
            for at, sync in buffer.waits:
                if at == place and not sync.left_out:
                    commands.encodeWaitForEvent_value_(self._event(sync), 1)
            if place < len(buffer.passes):
                self._encode(commands, buffer.passes[place])
        commands.commit()
        self._committed[buffer] = commands

    def _encode(self, commands: Metal.MTLCommandBuffer, each: Pass) -> None:
        if each.kind == "blit":
            encoder = commands.blitCommandEncoder()
        else:
            kind = CONCURRENT if each.kind == "concurrent" else SERIAL
            encoder = commands.computeCommandEncoderWithDispatchType_(kind)
        encoder.setLabel_(f"p{each.number}")
        for sync in each.waits:
            if not sync.left_out:
                encoder.waitForFence_(self._fence(sync))
        for number in range(len(each.commands) + 1):
            for place, sync in each.barriers:
                if place == number and not sync.left_out:
                    self._barrier(encoder, sync)
            if number < len(each.commands):
                self._command(encoder, each.commands[number])
        for sync in each.updates:
            if not sync.left_out:
                encoder.updateFence_(self._fence(sync))
        encoder.endEncoding()

    def _barrier(self, encoder: Metal.MTLComputeCommandEncoder, sync: Sync) -> None:
        if sync.buffers:
            named = [self._buffers[number] for number in sorted(sync.buffers)]
            encoder.memoryBarrierWithResources_count_(named, len(named))
        else:
            encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)

    def _command(self, encoder, command: Command) -> None:  # type: ignore[no-untyped-def]
        buffer, region = command.target
        target, offset = self._buffers[buffer], region * REGION
        if command.what == "fill":
            encoder.fillBuffer_range_value_(target, (offset, REGION), 1)
            return
        source, start = target, 0
        if command.source is not None:
            source, start = self._buffers[command.source[0]], command.source[1] * REGION
        if command.what == "copy":
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                source, start, target, offset, REGION
            )
            return
        encoder.setComputePipelineState_(self._script.state(command.what))
        places = [(source, start)] if command.what == "move" else []
        for index, (bound, at) in enumerate([*places, (target, offset)]):
            encoder.setBuffer_offset_atIndex_(bound, at, index)
        encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (COUNT, 1, 1))

    def _fence(self, sync: Sync) -> Metal.MTLFence:
        return self._fences.setdefault(sync, self._script.device.newFence())

    def _event(self, sync: Sync) -> Metal.MTLEvent:
        return self._events.setdefault(sync, self._script.device.newEvent())


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong in a plan by the oracle, and what the check said."""

    expected: frozenset[Wrong]
    found: frozenset[Wrong]
    passes: frozenset[tuple[str, frozenset[str]]]
    named: frozenset[tuple[str, frozenset[str]]]

    @property
    def is_right(self) -> bool:
        """Whether nothing was missed, and nothing said of encoders that are right."""
        return self.expected == self.found and self.named <= self.passes


def verdict(script: Script, plan: Plan) -> Verdict:
    """Run a plan, and compare."""
    oracle, pairs = Oracle(plan), list(judged(plan))
    kinds = [(_kind(oracle, first, second), first, second, where) for first, second, where in pairs]
    findings = Player(script, plan).run()
    return Verdict(
        expected=frozenset((kind, f"'b{where}'") for kind, _, _, where in kinds),
        found=frozenset((finding.kind, finding.memory) for finding in findings),
        passes=frozenset(
            (kind, _passes(oracle, first, second)) for kind, first, second, _ in kinds
        ),
        named=frozenset((finding.kind, _named(finding)) for finding in findings),
    )


def _kind(oracle: Oracle, first: object, second: object) -> str:
    here, there = oracle.homes[first], oracle.homes[second]
    if there is None or here is None:
        host = second if there is None else first
        assert isinstance(host, Access)
        return "host-write-in-flight" if host.write else "host-read-early"
    if here[1] is there[1]:
        return "unordered-dispatches"
    return "unordered-passes" if here[0].queue == there[0].queue else "unordered-queues"


def _passes(oracle: Oracle, *actors: object) -> frozenset[str]:
    homes = [oracle.homes[actor] for actor in actors]
    return frozenset(str(home[1].number) for home in homes if home is not None)


def _named(finding: Finding) -> frozenset[str]:
    texts = [finding.message, *(party.what for party in finding.parties)]
    return frozenset(number for text in texts for number in _ENCODER.findall(text))

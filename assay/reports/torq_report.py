"""What is in a Torq executable, for people and as JSON: summary, actions, jobs, memory, words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.hal.torq.follow import Followed, Job
from assay.hal.torq.format import (
    Action,
    Alloc,
    Dealloc,
    Executable,
    HostCopy,
    StartHost,
    StartNss,
    WaitNss,
)
from assay.hal.torq.lifetimes import lives, peak
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import Hardware
from assay.hw.torq.facts.machine import limit
from assay.hw.torq.notes import SliceRun

from ..operator_table import expected_lines, way_counts

_COLOURS = {
    "HOST": "gray80",
    "XR": "lightblue",
    "XW": "lightsalmon",
    "SLC0": "palegreen",
    "SLC1": "darkseagreen",
    "CDMA": "plum",
    "CSS": "khaki",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqReport:
    """One executable of a container with what following it found."""

    member: str
    executable: Executable
    followed: Followed
    npu: Hardware

    def summary(self) -> list[str]:
        """A few lines about all of it."""
        executable = self.executable
        begin, end = executable.footprint()
        filled = [segment for segment in executable.segments if segment.data is not None]
        form = "1.x form" if executable.old_segments else f"runtime {executable.runtime_version}"
        lines = [
            f"{self.member}: executable {executable.name}, {form}, hardware id {executable.hw_id}"
            + (f", made for {made_for}" if (made_for := executable.notes.hardware) else ""),
            f"XRAM {begin:#x} to {end:#x}: {len(executable.segments)} segments, "
            f"{sum(len(segment.data or b'') for segment in filled):,} B of data in {len(filled)}",
        ]
        for memory in ("LRAM", "XRAM"):
            size, action = peak(lives(executable), memory)
            if size:
                lines.append(f"{memory} buffers: at most {size:,} B, from action {action} on")
        if executable.host_code is not None:
            lines.append(f"host code: {len(executable.host_code):,} B")
        for index, binding in enumerate(executable.bindings):
            way = (
                "read only"
                if binding.read_only
                else "write only"
                if binding.write_only
                else "read and written"
            )
            lines.append(
                f"binding {index}: buffer {binding.number} from byte {binding.offset}, "
                f"{binding.size:,} B at XRAM {binding.address:#x}, {way}"
            )
        units = {job.unit for job in self.followed.jobs}
        counts = [
            f"{sum(job.unit == unit for job in self.followed.jobs)} {unit}"
            for unit in _COLOURS
            if unit in units
        ]
        lines.append(
            f"{len(executable.actions)} actions, {len(self.followed.programs)} NPU programs of "
            f"{sum(p.tasks for p in self.followed.programs)} tasks; jobs: {', '.join(counts)}"
        )
        return lines

    def run(self) -> list[str]:
        """What runs and what it moves, and what its compiler expects of that."""
        whole = self._whole()
        slices = " and ".join(f"{whole['runs'][unit]} of {unit}" for unit in sorted(whole["runs"]))
        lines = [
            f"{whole['programs']} NSS programs of {whole['tasks']:,} tasks: "
            f"runs of slices {slices or 'none'}; "
            f"{whole['loads']:,} loads of {whole['loaded']:,} B, "
            f"{whole['stores']:,} stores of {whole['stored']:,} B",
        ]
        notes = self.executable.notes
        if notes.operators:
            ways = ", ".join(f"{count} {way}" for way, count in whole["ways"].items())
            named = f"{len(notes.operators)} operators of the model"
            lines.append(f"{named}{f': {ways}' * bool(ways)}; {whole['macs']:,} MACs")
        if notes.lram_peak:
            lines.append(f"LRAM: {notes.lram_peak:,} of {self.npu.lram:,} B have buffers at most")
        if notes.cycles:
            milliseconds = notes.cycles / machine_of(self.npu).clock_hz * 1e3
            lines.append(
                f"expected: {notes.cycles:,} cycles, {milliseconds:.3f} ms; "
                f"multipliers {whole['utilisation']:.1%} used"
            )
        return lines

    def _whole(self) -> dict[str, Any]:
        notes, jobs = self.executable.notes, self.followed.jobs
        moved = {
            unit: [job.writes if unit == "XR" else job.reads for job in jobs if job.unit == unit]
            for unit in ("XR", "XW")
        }
        sizes = {
            unit: sum(end - begin for ranges in each for _, begin, end in ranges)
            for unit, each in moved.items()
        }
        macs = sum(note.macs for note in notes.operators)
        rate = limit("multipliers_per_slice") * self.npu.slices
        return {
            "programs": len(self.followed.programs),
            "tasks": sum(program.tasks for program in self.followed.programs),
            "runs": Counter(job.unit for job in jobs if job.unit in ("SLC0", "SLC1")),
            "loads": len(moved["XR"]),
            "loaded": sizes["XR"],
            "stores": len(moved["XW"]),
            "stored": sizes["XW"],
            "ways": way_counts(notes.operators),
            "macs": macs,
            "lram_peak": notes.lram_peak,
            "cycles": notes.cycles,
            "utilisation": macs / (rate * notes.cycles) if notes.cycles else 0.0,
        }

    def actions(self) -> list[str]:
        """One line per host action."""
        programs = {program.action: program for program in self.followed.programs}
        lines = []
        for index, action in enumerate(self.executable.actions):
            text = _action(action)
            if index in programs:
                program = programs[index]
                text += f": {program.tasks} tasks"
                if program.problem:
                    text += f", then {program.problem}"
            lines.append(f"{index:>5}  {text}")
        return lines

    def jobs(self) -> list[str]:
        """One line per job of the task graph, with what its compiler says it is for."""
        notes = self._notes()
        return [_job(job, notes.get(job.number, "")) for job in self.followed.jobs]

    def _notes(self) -> dict[int, str]:
        """What jobs are for, by their numbers: transfers and runs of a slice go by order, programs
        of slices that stay where they are by address.
        """
        notes = self.executable.notes
        moves = [job for job in self.followed.jobs if job.unit in ("XR", "XW")]
        found = {job.number: str(note) for job, note in zip(moves, notes.transfers, strict=False)}
        runs: dict[str, list[SliceRun]] = {}
        for run in notes.slice_runs:
            runs.setdefault(run.unit, []).append(run)
        for job in self.followed.jobs:
            tasks = notes.slice_programs.get(-1 if job.code is None else job.code, ())
            if runs.get(job.unit):
                tasks = runs[job.unit].pop(0).tasks
            if tasks:
                found[job.number] = ", ".join(dict.fromkeys(map(str, tasks)))
        return found

    def operators(self) -> list[str]:
        """One line per operator of the model: what its compiler expects, if it says so."""
        return expected_lines(self.executable.notes.operators)

    def memory(self) -> list[str]:
        """One line per buffer, by memory and address."""
        found = sorted(lives(self.executable), key=lambda life: (life.memory, life.address))
        return [
            f"{life.memory:<4}  {life.address:#010x} to {life.address + life.size:#010x}  "
            f"actions {life.begin} to {life.end}  buffer {life.number}"
            for life in found
        ]

    def words(self) -> list[str]:
        """Every command word and descriptor where it is executed."""
        lines: list[str] = []
        for program in self.followed.programs:
            lines.append(f"NPU program of action {program.action} at LRAM {program.address:#07x}")
            lines += [line.text for line in program.words]
            if program.problem:
                lines.append(f"not followed further: {program.problem}")
        for job in self.followed.jobs:
            if job.words:
                lines.append(f"{job.unit}, job {job.number}: slice program at {job.code:#07x}")
                lines += [line.text for line in job.words]
        return lines

    def dot(self) -> str:
        """The task graph in Graphviz's language."""
        lines = ["digraph tasks {", "  rankdir=LR; node [shape=box, style=filled];"]
        for job in self.followed.jobs:
            what = job.what.replace("\\", "/").replace('"', "'")
            label = f"{job.number} {job.unit}\\n{what}"
            lines.append(f'  j{job.number} [label="{label}", fillcolor="{_COLOURS[job.unit]}"];')
            lines += [f"  j{earlier} -> j{job.number};" for earlier in job.after]
        return "\n".join([*lines, "}"])

    def json(self, *, words: bool) -> dict[str, Any]:
        """All of it as JSON values; words only on request."""
        executable, notes = self.executable, self._notes()
        found: dict[str, Any] = {
            "member": self.member,
            "name": executable.name,
            "runtime_version": executable.runtime_version,
            "hw_id": executable.hw_id,
            "xram": list(executable.footprint()),
            "segments": [
                {"address": s.address, "size": s.size, "initialised": s.data is not None}
                for s in executable.segments
            ],
            "bindings": [_fields(binding) for binding in executable.bindings],
            "actions": [
                {"kind": type(action).__name__, **_fields(action)} for action in executable.actions
            ],
            "programs": [
                {
                    "action": program.action,
                    "address": program.address,
                    "tasks": program.tasks,
                    "problem": program.problem,
                    **({"words": [line.json() for line in program.words]} if words else {}),
                }
                for program in self.followed.programs
            ],
            "jobs": [
                {**_job_json(job, words=words), "purpose": notes.get(job.number, "")}
                for job in self.followed.jobs
            ],
            "run": self._whole(),
            "operators": [_fields(note) for note in executable.notes.operators],
            "buffers": [_fields(life) for life in lives(executable)],
        }
        return found


def _action(action: Action) -> str:
    if isinstance(action, HostCopy):
        shape = "".join(f"{count} x " for count in action.shape)
        return (
            f"copy {shape}{action.element_bytes} B, {action.source.name} "
            f"{action.source_address:#x} to {action.target.name} {action.target_address:#x}"
        )
    if isinstance(action, StartNss):
        used = {
            "slice 0": action.slice0,
            "slice 1": action.slice1,
            "DMA in": action.dma_in,
            "DMA out": action.dma_out,
        }
        names = ", ".join(name for name, here in used.items() if here)
        return f"start NSS at LRAM {action.address:#x}{f' ({names})' if names else ''}"
    if isinstance(action, StartHost):
        return f"call {action.function} with {len(action.arguments)} arguments"
    if isinstance(action, Alloc):
        return (
            f"buffer {action.number} begins: {action.size} B at {action.buffer_type.name} "
            f"{action.address:#x}"
        )
    if isinstance(action, Dealloc):
        return f"buffer {action.number} ends"
    return "wait for NSS" if isinstance(action, WaitNss) else "wait for the host function"


def _job(job: Job, note: str) -> str:
    after = f"  after {', '.join(f'#{number}' for number in job.after)}" if job.after else ""
    sides = [_ranges(job.reads), _ranges(job.writes)]
    moves = f"  {sides[0]} -> {sides[1]}" if all(sides) else ""
    purpose = f"  [{note}]" if note else ""
    return f"#{job.number:<4} {job.unit:<4}  {job.what}{purpose}{moves}{after}"


def _ranges(ranges: Sequence[tuple[str, int, int]]) -> str:
    if not ranges:
        return ""
    memory, begin, _ = ranges[0]
    pieces = f", {len(ranges)} pieces" if len(ranges) > 1 else ""
    return f"{memory} {begin:#x} to {ranges[-1][2]:#x}{pieces}"


def _job_json(job: Job, *, words: bool) -> dict[str, Any]:
    found = _fields(job)
    if words:
        found["words"] = [line.json() for line in job.words]
    else:
        del found["words"]
    return found


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}

"""A slice's command words and descriptors as tasks: the inverse of `encode_slice`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...facts.registers import WORD_BYTES, Image, registers
from ..commands import Dim, Ndl, SliceProgram, SliceTask
from ..encode.slice import BLOCKS, CE_BLOCK, DE_BLOCK, MEMORY_AGENTS, TABLE, TABLE_WORDS
from ..encode.window import window
from ..errors import DecodeError
from .config import configuration
from .memory import high_dims, input_base, input_low, output_low, output_plane, run, weight_low
from .registers import register_agents
from .stream import Command, RawDescriptor, Read, read_commands, read_descriptors
from .window import borders, with_borders

DESCRIPTOR_REGISTERS = {agent: f"{block}.desc" for agent, block in BLOCKS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTask:
    """One task's registers as its commands set them."""

    address: int
    linked: bool
    """Whether a link leads here."""
    image: Image
    table: tuple[int, ...] | None


def decode_slice(read: Read, address: int) -> SliceProgram:
    """The program at an LRAM address. Raises DecodeError.

    The caller compares its encoding with the words; see `decode.decode`.
    """
    raw = raw_tasks(read_commands(read, address))
    tasks = tuple(decode_task(read, task) for task in raw)
    return SliceProgram(address=address, tasks=tasks)


def raw_tasks(commands: Sequence[Command]) -> list[RawTask]:
    """Commands grouped to tasks: a table or none, the CE block, the DE block, SYN."""
    found: list[RawTask] = []
    index, linked = 0, False
    while index < len(commands):
        begin = index
        table = None
        if _writes(commands, index, TABLE, TABLE_WORDS):
            table = commands[index].values
            index += 1
        for block in (CE_BLOCK, DE_BLOCK):
            if not _writes(commands, index, *block):
                raise _unexpected(commands, index, f"CFG({block[1]}) of {block[0]:#05x}")
            index += 1
        if index >= len(commands) or commands[index].kind != "SYN":
            raise _unexpected(commands, index, "SYN")
        found.append(_raw_task(commands[begin : index + 1], linked, table))
        index += 1
        linked = index < len(commands) and commands[index].kind == "NXT"
        index += linked
    return found


def _writes(commands: Sequence[Command], index: int, register: int, count: int) -> bool:
    if index >= len(commands):
        return False
    command = commands[index]
    return command.kind == "CFG" and command.register == register and len(command.values) == count


def _unexpected(commands: Sequence[Command], index: int, expected: str) -> DecodeError:
    if index >= len(commands):
        return DecodeError(commands[-1].address, f"ends where {expected} should follow")
    command = commands[index]
    found = f"CFG({len(command.values)}) of {command.register:#05x}"
    what = found if command.kind == "CFG" else command.kind
    return DecodeError(command.address, f"{what} where {expected} should be: no task of a slice")


def _raw_task(commands: Sequence[Command], linked: bool, table: tuple[int, ...] | None) -> RawTask:
    words = {
        command.register + WORD_BYTES * index: value
        for command in commands
        if command.kind == "CFG" and command.register != TABLE
        for index, value in enumerate(command.values)
    }
    image = Image(registers("slice"), words)
    return RawTask(address=commands[0].address, linked=linked, image=image, table=table)


def decode_task(read: Read, raw: RawTask) -> SliceTask:
    """One task with its loops. Raises DecodeError."""
    image = raw.image
    task = configuration(image, raw.address)
    lists = descriptor_lists(read, image)
    width = height = 1
    if "DEDR" in lists:
        found = borders(image, task, _kernel_rows(lists["DEDR"]), raw.address)
        task = with_borders(task, found)
        width, height = found.width, found.height
    memory = [
        ndl
        for agent in MEMORY_AGENTS
        for ndl in _memory_ndls(agent, lists.get(agent, ()), image, task, (width, height))
    ]
    bias_bytes = (image["DE_B_R.w_size"] or 32) if "DEBR" in lists else 0
    ndls = (_reference(width, height), *memory, *register_agents(image, task, bias_bytes))
    values = {name: getattr(task, name) for name in SliceTask.__dataclass_fields__}
    return SliceTask(
        **{
            **values,
            "ndls": ndls,
            "table": raw.table,
            "address": raw.address if raw.linked else None,
        }
    )


def present_agents(image: Image) -> list[str]:
    """Memory agents that a task configures."""
    starts = {"DEDR": "START.dr", "DEWR": "START.wr", "DEQW": "START.qw"}
    enables = {"DEDR1": "DE_D_RX.enable", "DEBR1": "DE_B_RX.enable"}
    found = []
    for agent in MEMORY_AGENTS:
        if agent == "DEBR":
            here = not image["DE_B_R.disabled"]
        elif agent in enables:
            here = bool(image[enables[agent]])
        else:
            here = bool(image[starts[agent]] or image[DESCRIPTOR_REGISTERS[agent]])
        if here:
            found.append(agent)
    return found


def descriptor_lists(read: Read, image: Image) -> dict[str, list[RawDescriptor]]:
    """Each present agent's descriptors. Raises DecodeError."""
    return {
        agent: read_descriptors(read, image[DESCRIPTOR_REGISTERS[agent]])
        for agent in present_agents(image)
    }


def _kernel_rows(descriptors: Sequence[RawDescriptor]) -> int:
    rows = 1
    for dim in descriptors[0].dims:
        rows *= dim.count if dim.code in (2, 6) else 1
    return rows


def _reference(width: int, height: int) -> Ndl:
    dims = (Dim(count=width, stride=1, tag="X"), Dim(count=height, stride=width, tag="Y"))
    return Ndl(agent="REF", high=tuple(dim for dim in dims if dim.count > 1))


def _memory_ndls(
    agent: str,
    descriptors: Sequence[RawDescriptor],
    image: Image,
    task: SliceTask,
    plane: tuple[int, int],
) -> list[Ndl]:
    found = []
    for index, raw in enumerate(descriptors):
        low = _low(agent, image, task, plane[1])
        base = input_base(raw, task, plane[0], low) if agent == "DEDR" else raw.start
        sync_mode, sync_nhd = _sync(agent, image)
        found.append(
            Ndl(
                agent=agent[:4],
                set=int(agent.endswith("1")),
                low=low,
                high=high_dims(agent, raw, task),
                special=output_plane(image) if agent == "DEQW" else (),
                base_address=base,
                sync_mode=sync_mode,
                sync_nhd=sync_nhd,
                descriptor_address=raw.address if index == 0 else None,
            )
        )
    return found


def _low(agent: str, image: Image, task: SliceTask, height: int) -> tuple[Dim, ...]:
    if agent == "DEDR":
        return input_low(image, window(task, height).extra)
    if agent == "DEWR":
        return weight_low(image)
    if agent == "DEBR":
        return run(4, (image["DE_B_R.w_size"] or 32) // 4)
    if agent == "DEQW":
        return output_low(image)
    if agent == "DEDR1":
        return run(1, image["DE_D_RX.w_size"])
    return run(1, image["DE_B_RX.w_size"] or 32)


def _sync(agent: str, image: Image) -> tuple[str, int]:
    """Sync mode and dimensions; a unit of one dimension is the same as none."""
    if agent not in SYNC_REGISTERS:
        return "", 0
    index = image[f"{SYNC_REGISTERS[agent]}.sync_idx"]
    turn = "R" if image["DE_D_R.simd_mode"] == 0 else "P"
    modes: Mapping[str, str] = {
        "DEDR": "P" if turn == "P" and not image["DE_D_R.ignt_id"] else "",
        "DEDR1": turn if image["DE_D_R.ignt_id"] else "",
        "DEBR": "",
        "DEBR1": "R" if image["DE_B_R.ignt_id"] else "",
    }
    return modes[agent], index + 1 if index else 0


SYNC_REGISTERS = {"DEDR": "DE_D_R", "DEDR1": "DE_D_RX", "DEBR": "DE_B_R", "DEBR1": "DE_B_RX"}

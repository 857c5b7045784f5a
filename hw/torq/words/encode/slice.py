"""A slice task as words: its command words (table, CE block, DE block, SYN) and its descriptors.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...facts.registers import Image, registers
from ..commands import Ndl, SliceTask
from ..errors import EncodeError
from ..stream import SYN, cfg, cfg_words
from .config import put_config, put_defaults
from .descriptor import LAST_DESCRIPTOR, MOST_WORDS, descriptor
from .memory import put_bias, put_gather, put_input, put_output, put_scatter, put_weights
from .registers import REGISTER_AGENTS, put_register_agent
from .window import base_shift, check_window, put_skipped, put_window, skipped_steps
from .word import word_shape

MEMORY_AGENTS = ("DEDR", "DEWR", "DEBR", "DEQW", "DEDR1", "DEBR1")
SOFTWARE_AGENTS = ("REF", "ALU", "DMEM", "WMEM", "BMEM", "QMEM")
TABLE_WORDS = 512
TABLE = registers("slice").address("TBL_MEM[0].base")
CE_BLOCK = (registers("slice").address("CE.CTRL_C1.cedw_s_size"), 14)
DE_BLOCK = (registers("slice").address("DE_D_R.desc"), 31)
ALL_ENDED = 0x11F
"""Written to STATUS: clears the end of every agent."""
BLOCKS = {
    "DEDR": "DE_D_R",
    "DEWR": "DE_W_R",
    "DEBR": "DE_B_R",
    "DEQW": "DE_Q_W",
    "DEDR1": "DE_D_RX",
    "DEBR1": "DE_B_RX",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedTask:
    """One task's words. `last_header` is the index of the header that can end a program."""

    words: tuple[int, ...]
    last_header: int
    descriptors: Mapping[str, tuple[int, ...]]
    result_bytes: int
    """Size of a result, as the next task's registers remember it."""


def task_words(task: SliceTask) -> int:
    """How many command words a task has, without a link."""
    return (1 + TABLE_WORDS if task.table is not None else 0) + 1 + 14 + 1 + 31 + 1


def memory_lists(task: SliceTask) -> dict[str, list[Ndl]]:
    """Memory NDLs by agent, in the order of the agents' first mention."""
    found: dict[str, list[Ndl]] = {}
    for ndl in task.ndls:
        if ndl.agent in BLOCKS:
            if ndl.set not in (0, 1) or ndl.name not in BLOCKS:
                raise EncodeError(f"has no set {ndl.set}", agent=ndl.agent)
            found.setdefault(ndl.name, []).append(ndl)
    return found


def encode_task(
    task: SliceTask, addresses: Mapping[str, int], result_bytes: int = 0
) -> EncodedTask:
    """One task's words, with descriptors at `addresses` (LRAM, by agent). Raises EncodeError.

    `result_bytes` is the previous task's: a task without DEQW keeps it in its registers.
    """
    image = Image(registers("slice"))
    put_defaults(image)
    check_window(task)
    width, height = _plane(task)
    descriptors: dict[str, tuple[int, ...]] = {}
    bias_bytes = 0
    for agent, ndls in memory_lists(task).items():
        parts = [_descriptor(image, ndl, task, (width, height)) for ndl in ndls]
        descriptors[agent] = _descriptor_list(agent, parts)
        _put_address(image, agent, addresses[agent])
        for ndl in ndls:
            if agent == "DEQW":
                result_bytes = put_output(image, ndl, task)
            elif agent == "DEBR":
                bias_bytes = put_bias(image, ndl)
            else:
                _put_word(image, ndl, task, (width, height))
    _put_register_agents(image, task, bias_bytes)
    put_config(image, task)
    image["DE_ACT.bbus_byp"] = "DEBR" not in descriptors
    image["DE_ACT.q_size"] = {1: 0, 2: 1}.get(result_bytes, 2)
    starts = start_bits(task, descriptors)
    image.wrap_word("STATUS.dr", ALL_ENDED)
    image.wrap_word("START.dr", starts)
    words = _table_words(task) + cfg(image, *CE_BLOCK) + cfg(image, *DE_BLOCK)
    return EncodedTask(
        words=(*words, SYN | starts),
        last_header=len(words),
        descriptors=descriptors,
        result_bytes=result_bytes,
    )


def start_bits(task: SliceTask, descriptors: Mapping[str, object]) -> int:
    """Which agents a task starts and waits for."""
    bits = 0x10 if task.alu_disable != 0xFFFF else 0
    bits |= 0x100 if task.act_disable != 0xF else 0
    bits |= 0x1 if "DEDR" in descriptors else 0
    bits |= 0x2 if "DEWR" in descriptors else 0
    bits |= 0x4 if "DEBR" in descriptors or "DEBR1" in descriptors else 0
    bits |= 0x8 if "DEQW" in descriptors else 0
    return bits & ~0x1C if task.no_p_output else bits


def _plane(task: SliceTask) -> tuple[int, int]:
    """Width and height of the output plane, from REF."""
    if task.ndls and task.ndls[0].agent != "REF":
        raise EncodeError("REF comes first; empty, it is a plane of 1 x 1", agent="REF")
    if any(ndl.agent == "REF" for ndl in task.ndls[1:]):
        raise EncodeError("is there twice", agent="REF")
    width = height = 1
    for ndl in task.ndls[:1]:
        if ndl.set:
            raise EncodeError(f"has no set {ndl.set}", agent="REF")
        for dim in ndl.low + ndl.high:
            if dim.count < 1:
                raise EncodeError(f"{dim.tag} has {dim.count} steps", agent="REF")
            width *= dim.count if dim.tag == "X" else 1
            height *= dim.count if dim.tag == "Y" else 1
    return width, height


def _descriptor(image: Image, ndl: Ndl, task: SliceTask, plane: tuple[int, int]) -> tuple[int, ...]:
    base = ndl.base_address
    if ndl.name != "DEDR":
        return descriptor(ndl, base, task)
    skipped = skipped_steps(ndl, task)
    shift = base_shift(task, plane[0], word_shape(ndl))
    if not 0 <= base < 1 << 24:
        raise EncodeError(f"base address {base:#x} does not fit 24 bits", agent="DEDR")
    words = descriptor(ndl, (base - shift) % (1 << 24), task, skipped)
    put_skipped(image, skipped)
    return words


def _descriptor_list(agent: str, descriptors: list[tuple[int, ...]]) -> tuple[int, ...]:
    """All descriptors of one agent, the last one marked."""
    words = [word for one in descriptors for word in one]
    if len(words) > MOST_WORDS:
        raise EncodeError(
            f"its descriptors have {len(words)} words; {MOST_WORDS} are possible", agent=agent
        )
    words[len(words) - len(descriptors[-1])] |= LAST_DESCRIPTOR
    return tuple(words)


def _put_address(image: Image, agent: str, address: int) -> None:
    if address % 4 or not 0 <= address < 1 << 24:
        raise EncodeError(
            f"descriptor address {address:#x} must be a multiple of 4 within 24 bits", agent=agent
        )
    image[f"{BLOCKS[agent]}.desc"] = address


def _put_word(image: Image, ndl: Ndl, task: SliceTask, plane: tuple[int, int]) -> None:
    if ndl.name == "DEDR":
        put_window(image, task, plane, put_input(image, ndl))
    elif ndl.name == "DEDR1":
        put_gather(image, ndl)
    elif ndl.name == "DEWR":
        put_weights(image, ndl, task)
    else:
        put_scatter(image, ndl)


def _put_register_agents(image: Image, task: SliceTask, bias_bytes: int) -> None:
    seen: dict[str, Ndl] = {}
    for ndl in task.ndls:
        if ndl.agent in BLOCKS or ndl.agent in SOFTWARE_AGENTS:
            continue
        if ndl.agent not in REGISTER_AGENTS:
            known = ", ".join((*SOFTWARE_AGENTS[:1], *list(BLOCKS)[:4], *REGISTER_AGENTS))
            raise EncodeError(f"is no agent of a slice; there are {known}", agent=ndl.agent)
        if ndl.name in seen:
            raise EncodeError("is there twice", agent=ndl.name)
        seen[ndl.name] = ndl
        put_register_agent(image, ndl, task)
    _check_bias(seen.get("ACBR"), bias_bytes)
    _check_partials(seen)


def _check_bias(ndl: Ndl | None, bias_bytes: int) -> None:
    """What DEBR brings at once is what ACBR reads at once."""
    if not bias_bytes:
        return
    size = 1 if ndl else 0
    for dim in ndl.low + ndl.high if ndl else ():
        size *= dim.count if dim.tag in ("B", "D") else 1
    if size != bias_bytes:
        raise EncodeError(
            f"reads {size} bytes at once (B x D), and DEBR brings {bias_bytes}", agent="ACBR"
        )


def _check_partials(seen: Mapping[str, Ndl]) -> None:
    """CEPR and CEPW share one set of counters."""
    if "CEPR" not in seen or "CEPW" not in seen:
        return
    counts = [_partial_counts(seen[agent]) for agent in ("CEPR", "CEPW")]
    if counts[0] != counts[1]:
        raise EncodeError(
            f"counts N {counts[0][0]}, T {counts[0][1]}, and CEPW N {counts[1][0]}, "
            f"T {counts[1][1]}: they share one set of counters",
            agent="CEPR",
        )


def _partial_counts(ndl: Ndl) -> tuple[int, int]:
    repeats = blocks = 1
    for dim in ndl.low + ndl.high:
        repeats *= dim.count if dim.tag in ("M", "N") else 1
        blocks *= dim.count if dim.tag == "T" else 1
    return repeats, blocks


def _table_words(task: SliceTask) -> tuple[int, ...]:
    if task.table is None:
        return ()
    if not 1 <= len(task.table) <= TABLE_WORDS:
        raise EncodeError(f"has {len(task.table)} words; 1 to {TABLE_WORDS}", dim="table")
    for index, word in enumerate(task.table):
        if not 0 <= word < 1 << 32:
            raise EncodeError(f"is {word}; 32 bits are possible", dim=f"table[{index}]")
    padding = (0,) * (TABLE_WORDS - len(task.table))
    return cfg_words(TABLE, (*task.table, *padding))

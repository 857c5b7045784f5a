"""A slice task decoded: from register words and descriptors in LRAM to what the interpreter reads.

Nothing else goes in: what a task does follows from the words alone.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..facts.registers import Image, registers
from ..faults import TorqFault
from ..lram import Lram
from . import layout as at
from .banks import check_banks
from .descriptors import (
    TAG_COLUMN,
    TAG_COLUMN_PARITY,
    TAG_PIXEL,
    TAG_ROW,
    TAG_ROW_PARITY,
    Descriptor,
    read_list,
)
from .plan_act import plan_act, plan_results
from .plan_alu import plan_alu
from .plan_data import plan_data, plan_window
from .plan_weights import plan_weights
from .refusals import refusal, refuse_unknown

Numbers = NDArray[np.int64]
_COUNTER = {
    TAG_PIXEL: at.PIXEL,
    TAG_ROW: at.ROW,
    TAG_COLUMN: at.COLUMN,
    TAG_ROW_PARITY: at.ROW_PARITY,
    TAG_COLUMN_PARITY: at.COLUMN_PARITY,
}
TABLE_ENTRIES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicePlan:
    """One slice task, ready to run.

    `numbers` by the indices of `layout`; `nests` and `loops` are the descriptors of all agents;
    `lanes` what each lane takes; `base` and `slope` the look-up table; `expansion` what each code
    of a compressed weight stands for. `descriptors` keeps the descriptors by agent, `fields` the
    register image.
    """

    numbers: Numbers
    nests: Numbers
    loops: Numbers
    lanes: Numbers
    base: Numbers
    slope: Numbers
    expansion: Numbers
    descriptors: dict[str, tuple[Descriptor, ...]]
    image: Image

    def __getitem__(self, index: int) -> int:
        return int(self.numbers[index])


def plan_task(words: dict[int, int], lram: Lram) -> SlicePlan:
    """Decodes the task that the slice's register words (by byte address) configure.

    Raises TorqFault when words or descriptors are malformed, NotModelled when they use what is not
    known.
    """
    image = Image(registers("slice"), words)
    refuse_unknown(image)
    _refuse_halves(image)
    descriptors = _descriptors(image, lram)
    check_banks(image, descriptors)
    numbers = np.zeros(at.SIZE, np.int64)
    shortened = bool(image["DE_D_R.ndss_size"] or image["DE_D_R.ndss_size1"])
    nests, loops = _tables(numbers, descriptors, shortened)
    lanes = np.zeros((7, 256), np.int64)
    expansion = np.zeros(256, np.int64)
    runs_alu, runs_act = _running(image)
    numbers[at.WRITE_ON] = "DEQW" in descriptors
    numbers[at.ALU_KIND] = at.NO_ALU
    if runs_act:
        plan_act(image, numbers)
    if runs_alu:
        plan_data(image, numbers, descriptors)
        plan_window(image, numbers)
        expansion = plan_weights(image, numbers)
        plan_alu(image, numbers, lanes)
        _refuse_kept_sums(image, numbers)
    if "DEQW" in descriptors:
        plan_results(image, numbers, descriptors, runs_act)
    packed = np.array([words.get(address, 0) for address in _table_addresses()], np.uint32)
    return SlicePlan(
        numbers=numbers,
        nests=nests,
        loops=loops,
        lanes=lanes,
        base=(packed & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.int64),
        slope=(packed >> 16).astype(np.uint16).view(np.int16).astype(np.int64),
        expansion=expansion,
        descriptors=descriptors,
        image=image,
    )


@cache
def _table_addresses() -> tuple[int, ...]:
    """The registers of the activation unit's table."""
    space = registers("slice")
    return tuple(space.address(f"TBL_MEM[{entry}].base") for entry in range(TABLE_ENTRIES))


def _refuse_halves(image: Image) -> None:
    """Lanes can be switched off as a whole only, and a block must begin and end."""
    if image["CE.CG_CTRL.alu_disable"] not in (0, 0xFFFF):
        raise refusal(image, "CE.CG_CTRL.alu_disable", "a part of the ALU off is not modelled")
    if image["CTRL.act_dis"] not in (0, 0xF):
        raise refusal(image, "CTRL.act_dis", "a part of the activation unit off is not modelled")
    for start, off in (
        ("START.act", "CE.CG_CTRL.alu_disable"),
        ("START.ce0", "CTRL.act_dis"),
    ):
        if image[start] and image[off]:
            raise TorqFault(f"{start} starts what {off} turns off", agent=off)


def _running(image: Image) -> tuple[bool, bool]:
    """Whether ALU and activation unit run.

    The encoder sets one bit for each, and takes away the one called `act`, with those of the
    agents behind the activation unit, when sums are kept: then the other one starts the ALU.
    """
    if image["START.ce0"] and not image["CE.AL_MODE.cepx_out_en"]:
        if image["START.act"] or image["START.qw"] or image["START.br"]:
            raise TorqFault(
                "START starts what takes sums that CE.AL_MODE.cepx_out_en keeps", agent="START.act"
            )
        return True, False
    return bool(image["START.act"]), bool(image["START.ce0"])


def _refuse_kept_sums(image: Image, numbers: Numbers) -> None:
    """Sums can be kept of one block, and added to."""
    for name in ("CE.AL_MODE.cepx_clr_en", "CE.AL_MODE.cepx_out_en"):
        if image[name]:
            continue
        if numbers[at.BLOCKS] != 1:
            raise refusal(image, name, "sums of several blocks are not kept")
        if numbers[at.OPERATION] != at.OP_ADD:
            raise refusal(image, name, "of what is kept only sums are modelled")


def _descriptors(image: Image, lram: Lram) -> dict[str, tuple[Descriptor, ...]]:
    """The descriptors of the agents that START starts."""
    found: dict[str, tuple[Descriptor, ...]] = {}

    def read(agent: str, field: str) -> None:
        found[agent] = read_list(lram, image[field], agent)

    if image["START.dr"]:
        if image["DE_D_R.disabled"]:
            raise TorqFault("START starts DEDR, which DE_D_R.disabled turns off", agent="DEDR")
        read("DEDR", "DE_D_R.desc")
        if image["DE_D_RX.enable"]:
            read("DEDR1", "DE_D_RX.desc")
    if image["START.wr"]:
        read("DEWR", "DE_W_R.desc")
    if image["START.br"]:
        if not image["DE_B_R.disabled"]:
            read("DEBR", "DE_B_R.desc")
        if image["DE_B_RX.enable"]:
            read("DEBR1", "DE_B_RX.desc")
    if image["START.qw"]:
        read("DEQW", "DE_Q_W.desc")
    return found


def _tables(
    numbers: Numbers, descriptors: dict[str, tuple[Descriptor, ...]], shortened: bool
) -> tuple[Numbers, Numbers]:
    """All descriptors as tables of numbers; notes in `numbers` which belong to which.

    Loops of one step move nothing and are left out, except where registers number DEDR's loops
    because some are `shortened`.
    """
    nests: list[tuple[int, int, int]] = []
    loops: list[tuple[int, int, int, int]] = []
    for index, agent in enumerate(at.AGENTS):
        mine = descriptors.get(agent, ())
        numbers[at.NESTS + 2 * index] = len(nests)
        numbers[at.NESTS + 2 * index + 1] = len(mine)
        for descriptor in mine:
            every = shortened and agent == "DEDR"
            kept = [loop for loop in descriptor.loops if every or loop.count > 1]
            nests.append((descriptor.base, len(loops), len(kept)))
            steps: dict[int, int] = {}
            for loop in kept:
                counter = _COUNTER.get(loop.tag, 0)
                step = steps.get(counter, 1)
                steps[counter] = step * loop.count
                loops.append((loop.count, loop.delta, counter, step if counter else 0))
    return (
        np.array(nests or [(0, 0, 0)], np.int64).reshape(-1, 3),
        np.array(loops or [(0, 0, 0, 0)], np.int64).reshape(-1, 4),
    )

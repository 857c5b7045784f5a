"""The data side of a slice task, decoded: data words, shifts inside them, windows, gather."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..facts.registers import Image
from ..faults import TorqFault
from . import layout as at
from .descriptors import Descriptor
from .refusals import refusal

SEGMENT = 72
_D_SIZES = (64, 8, 16, 32)
"""CE.CTRL.cedr_d_size -> bytes of a group of data."""


def or_full(value: int, full: int) -> int:
    """A count whose largest value is stored as 0."""
    return value or full


def group_bytes(image: Image) -> int:
    """Bytes of one group of data lanes, of CEDR."""
    return _D_SIZES[image["CE.CTRL.cedr_d_size"]]


def plan_data(
    image: Image, numbers: NDArray[np.int64], descriptors: Mapping[str, tuple[Descriptor, ...]]
) -> None:
    """Fills in how data words are fetched and used. Raises TorqFault."""
    numbers[at.DATUM_BYTES] = or_full(image["CE.CTRL.cedr_b_size"], 4)
    numbers[at.DATA_ON] = not image["CE.COMM.cedw_dis"]
    if not numbers[at.DATA_ON]:
        if "DEDR" in descriptors:
            raise TorqFault(
                "it runs although CE.COMM.cedw_dis leaves its words to no one", agent="DEDR"
            )
        return
    if "DEDR" not in descriptors:
        raise TorqFault("CEDW takes data words, but START does not start DEDR", agent="CEDW")
    groups_code = image["DE_D_R.simd_size"]
    if groups_code == 3:
        raise refusal(image, "DE_D_R.simd_size", "there are 1, 2 or 4 groups")
    groups = 1 << groups_code
    word = image["DE_D_R.w_size"]
    if not 1 <= word * groups <= SEGMENT or word > SEGMENT // groups:
        raise TorqFault(
            f"{groups} groups of {word} bytes do not fit into a segment of {SEGMENT} bytes",
            agent="DEDR",
        )
    numbers[at.WORD_BYTES], numbers[at.GROUPS] = word, groups
    numbers[at.GROUP_STRIDE] = image.signed("DE_D_R.simd_strd")
    numbers[at.GROUP_PITCH] = SEGMENT // groups
    numbers[at.SEGMENTS] = or_full(image["CE.CTRL.cedw_s_size"], 4)
    numbers[at.REPEAT_STEP] = or_full(image["CE.CTRL.cedr_l_size"], 4)
    numbers[at.STEPS] = or_full(image["CE.CTRL.cedr_s_size"], 4)
    numbers[at.REPEAT_WORD] = or_full(image["CE.CTRL.cedr_n_size"], 1 << 24)
    numbers[at.BREAK_EVEN] = image["CE.CTRL.cedr_s_break0"]
    numbers[at.BREAK_ODD] = image["CE.CTRL.cedr_s_break1"]
    numbers[at.COLUMN_GROUPS] = or_full(image["CE.CTRL.cedr_i1_size"], 16)
    numbers[at.COLUMN_BREAK] = image["CE.CTRL.cedr_i1_break"]
    numbers[at.PARITIES] = 1 if image["CE.CTRL.cedr_i2_size"] else 2
    if max(numbers[at.BREAK_EVEN], numbers[at.BREAK_ODD]) >= numbers[at.STEPS]:
        raise TorqFault("a shortened word would have no step left", agent="CEDR")
    if numbers[at.COLUMN_BREAK] and numbers[at.COLUMN_GROUPS] < 2:
        raise TorqFault("CE.CTRL.cedr_i1_break leaves no word for odd columns", agent="CEDR")
    _short_loops(image, numbers)
    _gather(image, numbers, descriptors)


def _short_loops(image: Image, numbers: NDArray[np.int64]) -> None:
    numbers[at.SHORT_LOOP] = image["DE_D_R.ndss_idx"]
    numbers[at.SHORT_BY] = image["DE_D_R.ndss_size"]
    numbers[at.SHORT_LOOP1] = image["DE_D_R.ndss_idx1"]
    numbers[at.SHORT_BY1] = image["DE_D_R.ndss_size1"]
    both = numbers[at.SHORT_BY] and numbers[at.SHORT_BY1]
    if both and abs(numbers[at.SHORT_LOOP] - numbers[at.SHORT_LOOP1]) < 2:
        raise refusal(image, "DE_D_R.ndss_idx1", "shortened loops that touch are not modelled")


def _gather(
    image: Image, numbers: NDArray[np.int64], descriptors: Mapping[str, tuple[Descriptor, ...]]
) -> None:
    if "DEDR1" not in descriptors:
        if image["DE_D_R.simd_mode"]:
            raise TorqFault(
                "DE_D_R.simd_mode asks for gathering, but DE_D_RX.enable is 0", agent="DEDR1"
            )
        return
    groups = int(numbers[at.GROUPS])
    size = image["DE_D_RX.w_size"] // groups
    if size not in (1, 2, 4) or size * groups != image["DE_D_RX.w_size"]:
        raise TorqFault(
            f"an index word of {image['DE_D_RX.w_size']} bytes is not {groups} indices of "
            "1, 2 or 4 bytes",
            agent="DEDR1",
        )
    numbers[at.GATHER], numbers[at.INDEX_SIZE] = 1, size
    numbers[at.INDEX_BYTES] = image["DE_D_RX.w_size"]
    unit = _unit(descriptors["DEDR"][0], image["DE_D_R.sync_idx"])
    index_unit = _unit(descriptors["DEDR1"][0], image["DE_D_RX.sync_idx"])
    if index_unit not in (1, unit):
        raise TorqFault(
            f"one unit of synchronisation is {index_unit} index words and {unit} data words; "
            "they must be equal, or there must be one index word",
            agent="DEDR1",
        )
    numbers[at.UNIT], numbers[at.INDEX_UNIT] = unit, index_unit


def _unit(descriptor: Descriptor, index: int) -> int:
    """Transfers of one unit of synchronisation: of the loops up to number `index`."""
    product = 1
    for loop in descriptor.loops[: index + 1]:
        product *= loop.count
    return product


def plan_window(image: Image, numbers: NDArray[np.int64]) -> None:
    """Fills in the kernel's window and its padding."""
    numbers[at.PAD_VALUE] = image["CE.COMM.pad_value"]
    size = 2 if image["DE_D_R.pix_size"] else 1
    columns, rows = image["DE_D_R.xmask_en"], image["DE_D_R.ymask_en"]
    numbers[at.MASK_LEFT] = columns and image["CE.COMM.lpad_en"]
    numbers[at.MASK_RIGHT] = columns and image["CE.COMM.rpad_en"]
    numbers[at.MASK_ROWS] = rows
    numbers[at.MASKED] = bool(numbers[at.DATA_ON] and (columns or rows))
    numbers[at.PLANE_WIDTH] = or_full(image["DE_D_R.x_size"], 1 << 16)
    numbers[at.BORDER_LEFT] = -image.signed("DE_D_R.x_init")
    numbers[at.ROWS_FROM] = image["DE_D_R.ypad_min"]
    numbers[at.ROWS_TO] = image.signed("DE_D_R.ypad_max")
    numbers[at.COLUMN_DISTANCE] = image.signed("DE_D_R.xi_dist")
    numbers[at.ROW_DISTANCE] = image.signed("DE_D_R.yi_dist")
    numbers[at.ROW_END_DISTANCE] = image.signed("DE_D_R.ye_dist")
    numbers[at.WORD_PIXELS] = or_full(image["DE_D_R.w_step"], 64) // size
    if numbers[at.MASKED]:
        numbers[at.HALO] = (3 * int(numbers[at.PLANE_WIDTH]) + 64) * size

"""The weight side of a slice task, decoded: weight words, expansion, what each lane takes."""

import numpy as np
from numpy.typing import NDArray

from ..facts.registers import Image
from ..faults import TorqFault
from . import layout as at
from .plan_data import or_full
from .refusals import refusal
from .weights import expansion, format_of

_G_SIZES = (16, 1, 4, 8)
"""CE.CTRL.cewr_g_size -> groups of lanes with a weight of their own."""
_BUS_BFLOAT = 2


def weight_groups(image: Image) -> int:
    """How many groups of lanes take different weights."""
    return _G_SIZES[image["CE.CTRL.cewr_g_size"]]


def plan_weights(image: Image, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fills in how weight words are fetched and used; returns the table of expansion.

    Raises TorqFault.
    """
    kind = image["CE.COMM.ceww_dis"]
    if kind == 3:
        raise refusal(image, "CE.COMM.ceww_dis", "weights are explicit (0), implicit (1), none (2)")
    numbers[at.WEIGHTS] = kind
    numbers[at.IMPLICIT_WEIGHT] = image["CE.COMM.cewr_zp_val"]
    runs = bool(image["START.wr"])
    if runs != (kind == at.WEIGHTS_EXPLICIT):
        what = "takes weight words" if not runs else "takes no weight words"
        started = "does not start" if not runs else "starts"
        raise TorqFault(f"CEWW {what}, but START {started} DEWR", agent="DEWR")
    if not runs:
        return np.zeros(256, np.int64)
    table = _format(image, numbers)
    numbers[at.WEIGHT_BYTES] = or_full(image["DE_W_R.w_size"], 32)
    if numbers[at.WEIGHT_BITS] and numbers[at.WEIGHT_BYTES] % numbers[at.WEIGHT_OUT]:
        raise refusal(image, "DE_W_R.w_size", "it is no whole number of expanded weights")
    numbers[at.WEIGHT_TRANSFERS] = or_full(image["CE.CTRL.ceww_s_size"], 4)
    numbers[at.WEIGHT_SIZE] = or_full(image["CE.CTRL.cewr_b_size"], 4)
    numbers[at.WEIGHT_REPEAT_STEP] = or_full(image["CE.CTRL.cewr_l_size"], 4)
    numbers[at.WEIGHT_REPEAT_WORD] = or_full(image["CE.CTRL.cewr_n_size"], 1 << 24)
    steps = image["CE.CTRL.cewr_s_size"]
    if not 1 <= steps <= 36:
        raise refusal(image, "CE.CTRL.cewr_s_size", "a weight word has 1 to 36 steps")
    numbers[at.WEIGHT_STEPS] = steps
    loaded = int(numbers[at.WEIGHT_BYTES] * numbers[at.WEIGHT_TRANSFERS])
    if image["CE.CTRL.cewr_d_size"]:
        step = int(numbers[at.WEIGHT_SIZE]) * weight_groups(image)
    else:
        step = loaded // steps
    numbers[at.WEIGHT_STEP_BYTES] = step
    if (steps - 1) * step >= loaded:
        raise TorqFault(
            f"{steps} steps of {step} bytes are read from weight words of {loaded} bytes",
            agent="CEWR",
        )
    return table


def _format(image: Image, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    kind = image["DE_W_R.d_type"]
    if kind not in (0, _BUS_BFLOAT):
        raise refusal(image, "DE_W_R.d_type", "the bus carries integers (0) or bfloat16 (2)")
    if not image["DE_W_R.d_comp"]:
        if kind:
            raise refusal(image, "DE_W_R.d_type", "without DE_W_R.d_comp nothing is converted")
        return np.zeros(256, np.int64)
    mode = format_of(image["DE_W_R.d_cfmt"])
    numbers[at.WEIGHT_BITS] = mode.code("bits")
    numbers[at.WEIGHT_OUT] = 2 if kind else 1
    return expansion(mode, bool(kind))


def weight_offsets(
    image: Image, loaded: int, groups: NDArray[np.int64], bytes_: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where in the weight word lanes, bytes of groups, find their bytes.

    Lanes behind the last weight find a zero. Raises TorqFault.
    """
    size = or_full(image["CE.CTRL.cewr_b_size"], 4)
    among = weight_groups(image)
    if image["CE.CTRL.cewr_d_size"]:
        return groups % among * size + bytes_ % size
    if among > 1 and len(bytes_):
        raise refusal(
            image, "CE.CTRL.cewr_g_size", "groups of more than one weight are not modelled"
        )
    repeat = or_full(image["CE.CTRL.cewr_j_size"], 4)
    found = bytes_ // (size * repeat) * size + bytes_ % size
    return np.where(found < loaded, found, ZEROS)


ZEROS = 512
"""A place in the interpreter's weight memory where no word reaches: zeros."""

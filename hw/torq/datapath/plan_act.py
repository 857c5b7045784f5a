"""Activation unit and DEQW of a slice task, decoded."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..facts.machine import limit
from ..facts.registers import Image
from ..faults import TorqFault
from ..words.commands import ACT_SHIFTS
from . import layout as at
from .act import (
    CEIL,
    CONVERT,
    DOUBLE,
    FLOOR,
    LEADING_ZEROS,
    NEAREST,
    NEAREST_EVEN,
    SHIFT_ARITHMETIC,
    SHIFT_LEFT,
)
from .descriptors import Descriptor
from .plan_data import or_full
from .refusals import refusal

PRAM_WORDS = 256
_LOOKUPS = limit("table_lookups")
_VECTOR_STEPS = (256, 128, 64, 32, 16)
"""CE.AC_P.cepr_s1_step -> bytes from vector to vector."""
_SHIFT_PARTIALS = 16
_PAIR = 8
"""Bytes of a bias with its scale."""
Numbers = NDArray[np.int64]


def plan_act(image: Image, numbers: Numbers) -> None:
    """Fills in what the activation unit reads and computes. Raises TorqFault."""
    numbers[at.ACT_ON] = 1
    _vectors(image, numbers)
    mode = image["DE_ACT.act_mode"]
    if mode > SHIFT_ARITHMETIC:
        raise refusal(image, "DE_ACT.act_mode", "no mode is known by this code")
    is_float, shifts = image["DE_ACT.func_type"], SHIFT_LEFT <= mode <= SHIFT_ARITHMETIC
    if (is_float and (mode == LEADING_ZEROS or shifts)) or (not is_float and mode in (CEIL, FLOOR)):
        raise refusal(image, "DE_ACT.act_mode", "it does not go with the number format")
    numbers[at.ACT_MODE], numbers[at.ACT_FLOAT] = mode, is_float
    numbers[at.ACT_WIDTH] = image["DE_ACT.func_size"]
    numbers[at.TO_INTEGER] = mode == CONVERT and is_float
    numbers[at.RIGHT_SHIFT] = image["DE_ACT.act_sh"]
    numbers[at.ROUNDING] = image["DE_ACT.rnd_type"]
    numbers[at.ZERO_POINT] = image.signed("DE_ACT.qzero_pt")
    numbers[at.CLIP_MIN] = image.signed("DE_ACT.qclp_min")
    numbers[at.CLIP_MAX] = image.signed("DE_ACT.qclp_max")
    numbers[at.TABLE_ON] = image["DE_ACT.tbl_en"]
    if image["DE_ACT.q_size"] == 3:
        raise refusal(image, "DE_ACT.q_size", "results have 1, 2 or 4 bytes")
    numbers[at.RESULT_BYTES] = 1 << image["DE_ACT.q_size"]
    _sums(image, numbers)
    _bias(image, numbers)
    numbers[at.ACT_PLAIN] = (
        mode == 0
        and not is_float
        and not numbers[at.TABLE_ON]
        and numbers[at.SUM_GROUP] == 1
        and not image["DE_ACT.sum_psh"]
        and numbers[at.ROUNDING] == NEAREST
        and (not numbers[at.BIAS_ON] or numbers[at.BIAS_BYTES] == _PAIR)
    )
    if shifts:
        _refuse_beside_shifts(image, numbers)
    if is_float:
        _refuse_beside_floats(image)
    if is_float and numbers[at.RESULT_BYTES] == 1 and not numbers[at.TO_INTEGER]:
        raise refusal(image, "DE_ACT.q_size", "float results have 2 or 4 bytes")
    if numbers[at.TABLE_ON] and numbers[at.RESULTS] > _LOOKUPS:
        raise TorqFault(
            f"looks up {numbers[at.RESULTS]} results at a time; {_LOOKUPS} are possible",
            agent="DE_ACT.tbl_en",
        )


def _vectors(image: Image, numbers: Numbers) -> None:
    partials = or_full(image["CE.AC_P.cepr_d_size"], 16)
    vectors = image["CE.AC_P.cepr_s1_size"]
    code = image["CE.AC_P.cepr_s1_step"]
    if image["CE.AC_P.cepr_s0_size"] != 1:
        raise refusal(image, "CE.AC_P.cepr_s0_size", "only 1 is known")
    if not 1 <= vectors <= 16 or code >= len(_VECTOR_STEPS):
        raise refusal(
            image, "CE.AC_P.cepr_s1_size", "a block has 1 to 16 vectors, 16 to 256 B apart"
        )
    numbers[at.PARTIALS], numbers[at.VECTORS] = partials, vectors
    numbers[at.PARTIAL_STEP] = image["CE.AC_P.cepr_d_step"]
    numbers[at.VECTOR_STEP] = _VECTOR_STEPS[code] // 4
    last = (vectors - 1) * numbers[at.VECTOR_STEP] + (partials - 1) * numbers[at.PARTIAL_STEP]
    if last >= PRAM_WORDS:
        raise TorqFault(
            f"reads word {last} of the partial sums, of which there are {PRAM_WORDS}", agent="ACPR"
        )


def _sums(image: Image, numbers: Numbers) -> None:
    """How many partial sums make a result, and the shifts of each."""
    group = image["DE_ACT.sum_pgrp"]
    if group == 3:
        raise refusal(image, "DE_ACT.sum_pgrp", "sums are of 1, 2 or 4 partial sums")
    size = 1 << group
    if numbers[at.ACT_FLOAT]:
        product = image["CE.COMM.ceww_dis"] != at.WEIGHTS_NONE
        size = 2 if image["CE.AL_MODE.data_format"] and product else 1
    numbers[at.SUM_GROUP] = size
    for k, shift in enumerate(ACT_SHIFTS[image["DE_ACT.sum_psh"]]):
        numbers[at.SHIFT0 + k] = shift
    partials = int(numbers[at.PARTIALS])
    if partials % size:
        raise TorqFault(
            f"vectors of {partials} partial sums are no whole number of groups of {size}",
            agent="ACPW",
        )
    numbers[at.RESULTS] = partials // size


def _bias(image: Image, numbers: Numbers) -> None:
    """Bias and scale: which bytes of a word belong to which result."""
    numbers[at.BIAS_REUSE] = or_full(image["DE_ACT.m_size"], 1 << 24)
    on = image["START.br"] and not image["DE_B_R.disabled"]
    numbers[at.BIAS_ON] = on and not image["DE_ACT.bbus_byp"]
    if bool(on) != (not image["DE_ACT.bbus_byp"]):
        what = "runs, but DE_ACT.bbus_byp ignores it" if on else "does not run, but is waited for"
        raise TorqFault(what, agent="DEBR")
    if not on:
        return
    size = or_full(image["DE_B_R.w_size"], 32)
    numbers[at.BIAS_BYTES] = size
    if not image["DE_ACT.b_size"]:
        raise refusal(image, "DE_ACT.b_size", "biases of 2 bytes are not modelled")
    entry = 4 if numbers[at.ACT_FLOAT] else 8
    if not numbers[at.ACT_FLOAT] and image["DE_ACT.a_glb"]:
        raise refusal(image, "DE_ACT.a_glb", "a bias without a scale of its own is not modelled")
    if size < entry:
        raise TorqFault(f"a bias word of {size} bytes has no entry of {entry}", agent="DEBR")
    entries, results = size // entry, int(numbers[at.RESULTS])
    if entries > 1 and results > entries:
        raise refusal(
            image, "DE_B_R.w_size", f"{entries} biases for {results} results are not modelled"
        )


def _refuse_beside_floats(image: Image) -> None:
    for name in ("DE_ACT.act_sh", "DE_ACT.qzero_pt", "DE_ACT.tbl_en", "DE_ACT.sum_psh"):
        if image[name]:
            raise refusal(image, name, "it is known with integers only")
    if image["DE_ACT.rnd_type"] == DOUBLE:
        raise refusal(image, "DE_ACT.rnd_type", "double rounding is known with integers only")


def _refuse_beside_shifts(image: Image, numbers: Numbers) -> None:
    if image["DE_ACT.rnd_type"] in (DOUBLE, NEAREST_EVEN):
        raise refusal(
            image, "DE_ACT.rnd_type", "shifts are known to round to nearest (0) or not at all (3)"
        )
    for name in ("DE_ACT.act_sh", "DE_ACT.qzero_pt", "DE_ACT.tbl_en", "DE_ACT.sum_pgrp"):
        if image[name]:
            raise refusal(image, name, "shift modes are known without it only")
    if numbers[at.BIAS_ON] or image["DE_ACT.func_size"] == 3:
        raise refusal(image, "DE_ACT.func_size", "shifts are of 8, 16 or 32 bits without a bias")
    if numbers[at.PARTIALS] != _SHIFT_PARTIALS:
        raise TorqFault("shifts take 16 words: 8 of values, 8 of amounts", agent="ACPR")
    numbers[at.RESULTS] = min(16, 32 >> image["DE_ACT.func_size"])


def plan_results(
    image: Image,
    numbers: Numbers,
    descriptors: Mapping[str, tuple[Descriptor, ...]],
    runs_act: bool,
) -> None:
    """Fills in where DEQW puts results. Raises TorqFault."""
    size = or_full(image["DE_Q_W.w_size"], 64)
    numbers[at.WRITE_BYTES] = size
    numbers[at.PIXEL_BYTES] = 2 if image["DE_Q_W.pix_size"] else 1
    numbers[at.FILL] = image["DE_Q_W.fill_en"]
    numbers[at.FILL_VALUE] = image["DE_Q_W.fill_val"]
    if bool(numbers[at.FILL]) == runs_act:
        raise TorqFault(
            "DE_Q_W.fill_en must be set when the activation unit is off, and only then",
            agent="DEQW",
        )
    if runs_act and size > numbers[at.RESULTS] * numbers[at.RESULT_BYTES]:
        raise TorqFault(
            f"writes {size} bytes per transfer; a vector has {numbers[at.RESULTS]} results of "
            f"{numbers[at.RESULT_BYTES]}",
            agent="DEQW",
        )
    if size % numbers[at.PIXEL_BYTES]:
        raise TorqFault(f"{size} bytes are no whole number of pixels", agent="DEQW")
    _places(image, numbers, size)
    numbers[at.SCATTER] = image["DE_Q_W.sct_mode"]
    if bool(numbers[at.SCATTER]) != ("DEBR1" in descriptors):
        raise TorqFault("DE_Q_W.sct_mode and DE_B_RX.enable must agree", agent="DEBR1")
    if numbers[at.SCATTER]:
        numbers[at.SCATTER_BYTES] = or_full(image["DE_B_RX.w_size"], 32)
        if numbers[at.SCATTER_BYTES] not in (1, 2, 4):
            raise refusal(image, "DE_B_RX.w_size", "a place is an offset of 1, 2 or 4 bytes")


def _places(image: Image, numbers: Numbers, size: int) -> None:
    numbers[at.PLANE] = image["DE_Q_W.secv_en"]
    numbers[at.SPLIT] = image["DE_Q_W.split_en"]
    numbers[at.SPLIT_HALVES] = image["DE_Q_W.split_type"]
    numbers[at.SPLIT_STRIDE] = image.signed("DE_Q_W.split_strd")
    numbers[at.ROW_STEP] = image.signed("DE_Q_W.yp_step")
    numbers[at.ROW_PAIR_STEP] = image.signed("DE_Q_W.yh_step")
    x, y = image["DE_Q_W.x_size"], image["DE_Q_W.y_size"]
    if numbers[at.PLANE]:
        if not x or not y:
            raise TorqFault(f"a plane of {x} by {y} pixels has none", agent="DEQW")
        if numbers[at.SPLIT] and numbers[at.SPLIT_HALVES]:
            raise refusal(image, "DE_Q_W.split_type", "a plane is split by parity only")
        numbers[at.PLANE_X], numbers[at.PLANE_PIXELS] = x, x * y
    elif numbers[at.SPLIT_HALVES] and numbers[at.SPLIT] and size % 2:
        raise TorqFault(f"{size} bytes have no halves", agent="DEQW")

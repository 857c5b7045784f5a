"""The ALU of a slice task, decoded: its operation, and what each lane takes from which byte."""

import numpy as np
from numpy.typing import NDArray

from ..facts.modes import modes
from ..facts.registers import Image
from ..faults import TorqFault
from . import layout as at
from .plan_data import SEGMENT, group_bytes, or_full
from .plan_weights import weight_offsets
from .refusals import refusal

LANES = 256
SIGN = 0x80
"""The sign of a byte, in lanes that have one."""
_DATUM_STEPS = (0, 2, 4, SEGMENT // 2)
"""CE.CTRL.cedr_d_step -> bytes from datum to datum; 0: they are neighbours."""
_TRANSPOSED = 3
_WEIGHT_GROUPS = (16, 1, 4, 8)
"""CE.CTRL.cewr_g_size -> weights that meet the data at a time."""
_MODES = modes("alu_op1").modes.values()
_COMPARES = {mode.code("op_mode") for mode in _MODES if mode.code("skip_first")}
_LOGIC = {mode.code("op_mode") for mode in _MODES} - {
    *_COMPARES,
    at.OP_ADD,
    at.OP_MULTIPLY,
    at.OP_BYPASS,
}
Numbers = NDArray[np.int64]


def plan_alu(image: Image, numbers: Numbers, lanes: Numbers) -> None:
    """Fills in the operation and the lanes whose words are read later. Raises TorqFault."""
    numbers[at.BLOCKS] = or_full(image["CE.CTRL.cepw_t_size"], 1 << 24)
    numbers[at.CYCLES] = or_full(image["CE.CTRL.cepw_n_size"], 1 << 16)
    numbers[at.OPERATION] = image["CE.AL_MODE.op_mode"]
    numbers[at.CLEAR] = image["CE.AL_MODE.cepx_clr_en"]
    init = image["CE.INIT.init_val"]
    numbers[at.INIT] = init - (1 << 32) if init >> 31 else init
    numbers[at.INVERT] = image["CE.AL_MODE.invert_comp"]
    numbers[at.OUTPUT_INDEX] = image["CE.AL_MODE.output_idx"]
    numbers[at.CAST_BOOL] = image["CE.AL_MODE.cast_bool"]
    numbers[at.DATUM_FLOAT] = image["CE.AL_MODE.data_format"]
    numbers[at.TOGGLE_LSB] = image["CE.COMM.cewr_tgl_lsb"]
    numbers[at.TOGGLE_MSB] = image["CE.COMM.cewr_tgl_msb"]
    numbers[at.ALU_KIND] = _kind(image, numbers)
    _lanes(image, numbers, lanes)


def _kind(image: Image, numbers: Numbers) -> int:
    """What one cycle does. Raises NotModelled for combinations that no known program uses."""
    operation, weights = int(numbers[at.OPERATION]), int(numbers[at.WEIGHTS])
    size, is_float = int(numbers[at.DATUM_BYTES]), bool(numbers[at.DATUM_FLOAT])
    compare = operation in _COMPARES
    if not compare and operation not in (at.OP_ADD, at.OP_MULTIPLY, at.OP_BYPASS, *_LOGIC):
        raise refusal(image, "CE.AL_MODE.op_mode", "no operation is known by this code")
    if compare != bool(image["CE.AL_MODE.skip_first"]):
        raise refusal(
            image, "CE.AL_MODE.skip_first", "it is known to go with comparisons, and only with them"
        )
    if numbers[at.OUTPUT_INDEX] and not compare:
        raise refusal(image, "CE.AL_MODE.output_idx", "only comparisons have a position")
    if numbers[at.CAST_BOOL] and operation not in _LOGIC:
        raise refusal(image, "CE.AL_MODE.cast_bool", "only logic is known to take truth values")
    if (weights == at.WEIGHTS_IMPLICIT) != (operation == at.OP_ADD and weights != 0):
        raise refusal(
            image, "CE.COMM.ceww_dis", "sums without weights take implicit ones, nothing else does"
        )
    if is_float and size == 1:
        raise refusal(image, "CE.CTRL.cedr_b_size", "floats have 2 or 4 bytes")
    if operation == at.OP_MULTIPLY and not is_float:
        raise refusal(image, "CE.AL_MODE.op_mode", "products of integers are not modelled")
    if operation == at.OP_BYPASS:
        if image["CE.CTRL.cedr_d_step"] == _TRANSPOSED:
            if numbers[at.CYCLES] != 4 or not numbers[at.DATA_ON]:
                raise TorqFault("a transposed block takes 4 cycles of data words", agent="CEPR")
            return at.TRANSPOSE
        if size > 1:
            raise refusal(image, "CE.AL_MODE.op_mode", "BYP of data of several bytes is not known")
    if weights == at.WEIGHTS_NONE or (compare or operation in _LOGIC or operation == at.OP_BYPASS):
        if weights == at.WEIGHTS_EXPLICIT and (size > 1 or is_float):
            raise refusal(image, "CE.AL_MODE.op_mode", "of products only sums are modelled here")
        return at.WHOLE_DATUM
    if is_float:
        if size == 4 and weights == at.WEIGHTS_EXPLICIT:
            raise refusal(image, "CE.CTRL.cedr_b_size", "float32 is not multiplied by weights")
        return at.RUNS_FLOAT if _has_runs(image, numbers) else at.MULTIPLY_FLOAT
    return at.RUNS_INT if _has_runs(image, numbers) else at.MULTIPLY_INT


def _has_runs(image: Image, numbers: Numbers) -> bool:
    """Whether each weight meets a run of neighbouring data, all of one signedness."""
    size = 2 if numbers[at.DATUM_FLOAT] else 1
    return (
        bool(numbers[at.DATA_ON])
        and int(numbers[at.WEIGHTS]) == at.WEIGHTS_EXPLICIT
        and int(numbers[at.OPERATION]) == at.OP_ADD
        and int(numbers[at.DATUM_BYTES]) == size
        and int(numbers[at.WEIGHT_SIZE]) == size
        and or_full(image["CE.CTRL.cedr_i_size"], 4) == 1
        and image["CE.CTRL.cedr_d_step"] == 0
        and image["CE.CTRL.cewr_d_size"] == 1
        and image["CE.AL_MODE.unsigned_d"] in (0, 15)
        and image["CE.AL_MODE.unsigned_w"] in (0, 15)
        and not numbers[at.TOGGLE_LSB]
        and not numbers[at.TOGGLE_MSB]
    )


def without_fast_path(numbers: Numbers) -> Numbers:
    """The same task for the plain interpreter of lanes."""
    plain = numbers.copy()
    plain[at.ACT_PLAIN] = 0
    plain[at.ALU_KIND] = _PLAIN.get(int(plain[at.ALU_KIND]), plain[at.ALU_KIND])
    return plain


_PLAIN = {at.RUNS_INT: at.MULTIPLY_INT, at.RUNS_FLOAT: at.MULTIPLY_FLOAT}


def _words_read(numbers: Numbers) -> list[int]:
    """The PRAM words that the activation unit reads of a block."""
    if not numbers[at.ACT_ON]:
        return []
    words = {
        int(vector * numbers[at.VECTOR_STEP] + partial * numbers[at.PARTIAL_STEP])
        for vector in range(int(numbers[at.VECTORS]))
        for partial in range(int(numbers[at.PARTIALS]))
    }
    return sorted(words)


def _words_kept(image: Image) -> list[int]:
    """The PRAM words of a block that stay for the next task: all that lanes with weights make."""
    groups = _WEIGHT_GROUPS[image["CE.CTRL.cewr_g_size"]]
    return list(range(min(LANES, group_bytes(image) * groups)))


def _lanes(image: Image, numbers: Numbers, lanes: Numbers) -> None:
    """Fills in the lanes whose results are read later (all of them for kinds that need all)."""
    kind, size = int(numbers[at.ALU_KIND]), int(numbers[at.DATUM_BYTES])
    repeat = or_full(image["CE.CTRL.cedr_i_size"], 4)
    run = group_bytes(image)
    if repeat == 3 or size == 3 or run % (repeat * size):
        raise refusal(
            image,
            "CE.CTRL.cedr_i_size",
            f"{run} bytes are no whole number of data of {size} bytes, each {repeat} times",
        )
    floats = kind in (at.MULTIPLY_FLOAT, at.RUNS_FLOAT)
    whole = kind == at.WHOLE_DATUM or floats
    if whole and repeat > 1:
        raise refusal(image, "CE.CTRL.cedr_i_size", "whole data are not repeated byte by byte")
    if image["CE.CTRL.cedr_d_step"] == _TRANSPOSED and kind != at.TRANSPOSE:
        raise refusal(image, "CE.CTRL.cedr_d_step", "transposed data is known for BYP only")
    read = _words_read(numbers) if image["CE.AL_MODE.cepx_out_en"] else _words_kept(image)
    pair = 2 if floats else 1
    if whole:
        wanted = [word // pair * size for word in read if word % pair == 0]
        wanted = [lane for lane in wanted if lane < LANES]
    else:
        wanted = read
    if kind in _PLAIN:
        numbers[at.RUN] = run // size
        numbers[at.RUN_GROUPS] = max(wanted, default=-1) // run + 1
        numbers[at.RUN_SHARED] = image["CE.CTRL.cedr_g_size"] == 1
    if kind in (*_PLAIN, at.TRANSPOSE):
        wanted = list(range(0, LANES, size if whole else 1))
    numbers[at.LANES] = len(wanted)
    which = np.array(wanted, np.int64)
    lanes[:, : len(wanted)] = _columns(image, numbers, which)
    lanes[at.LANE_WORD, : len(wanted)] = which // size * pair if whole else which


def _columns(image: Image, numbers: Numbers, lanes: Numbers) -> Numbers:
    """Columns of the table of lanes, one for each of the byte lanes `lanes`."""
    run, size = group_bytes(image), int(numbers[at.DATUM_BYTES])
    repeat = or_full(image["CE.CTRL.cedr_i_size"], 4)
    groups, bytes_ = np.divmod(lanes, run)
    data, rests = np.divmod(bytes_, repeat * size)
    rests //= repeat
    offsets = _data_offsets(image, numbers, groups, data, size) + rests
    tops = lanes + size - 1 if numbers[at.ALU_KIND] == at.WHOLE_DATUM else lanes
    weights = np.zeros_like(lanes)
    if int(numbers[at.WEIGHTS]) == at.WEIGHTS_EXPLICIT:
        loaded = int(numbers[at.WEIGHT_BYTES] * numbers[at.WEIGHT_TRANSFERS])
        weights = weight_offsets(image, loaded, groups, bytes_)
    signs = [
        np.where(image[field] >> (places & 3) & 1, 0, SIGN)
        for field, places in (("CE.AL_MODE.unsigned_d", tops), ("CE.AL_MODE.unsigned_w", lanes))
    ]
    return np.stack([lanes, offsets, weights, data, rests, *signs])


def _data_offsets(
    image: Image, numbers: Numbers, groups: Numbers, data: Numbers, size: int
) -> Numbers:
    """Where in the data memory the data of groups of lanes start."""
    if not numbers[at.DATA_ON]:
        return np.zeros_like(data)
    step = _DATUM_STEPS[image["CE.CTRL.cedr_d_step"]]
    if image["CE.CTRL.cedr_d_step"] == _TRANSPOSED:
        return data * step + groups * size
    starts = data * (step or size)
    if image["CE.CTRL.cedr_g_size"] != 1:
        starts += groups % (4 * int(numbers[at.GROUPS])) * int(numbers[at.GROUP_PITCH])
    return starts

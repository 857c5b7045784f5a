"""What ALU and activation unit do in a slice task, as slice registers.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from ...facts.modes import Mode, modes
from ...facts.registers import Image
from ..commands import ACT_SHIFTS, SliceTask
from ..errors import EncodeError

_MODE_FLAGS = (
    "op_mode",
    "pre_norm_en",
    "invert_comp",
    "output_idx",
    "cast_bool",
    "cast_int",
    "skip_first",
)
_ONE_AND_ONE = 0x0101
_ONE_AND_MINUS_ONE = 0xFF01
_BF16_ONE = 0x3F80


def put_defaults(image: Image) -> None:
    """The image that the rest is filled into."""
    image["CE.COMM.cedw_dis"] = 1
    image["DE_B_R.disabled"] = 1
    for block in ("CE.CTRL", "CE.CTRL_C1"):
        image[f"{block}.aldw_l_size"] = 1
        image[f"{block}.aldw_s_size"] = 1


def put_config(image: Image, task: SliceTask) -> None:
    """ALU, activation unit and what is common to all agents. Raises EncodeError."""
    _put_activation(image, task)
    _put_alu(image, task)
    image["CE.COMM.lpad_en"] = task.pad_left != 0
    image["CE.COMM.rpad_en"] = task.pad_right != 0
    image["CE.COMM.knl_l"] = task.kernel_left
    image["CE.COMM.knl_r"] = task.kernel_right
    image["CE.COMM.stride"] = task.stride == 2
    image["CE.COMM.stride_offset"] = task.stride_offset
    _put_pad_value(image, task)
    image["CTRL.pri_dr"] = 1
    image["CTRL.pri_wr"] = 1
    _put(image, "CE.CG_CTRL.alu_disable", task.alu_disable, "alu_disable")
    _put(image, "CTRL.act_dis", task.act_disable, "act_disable")


def _put_activation(image: Image, task: SliceTask) -> None:
    mode = _mode("act_mode", task.act_mode, "act_mode")
    image["DE_ACT.func_type"] = _mode("number_format", task.act_format, "act_format").code()
    image["DE_ACT.act_mode"] = mode.code()
    image["DE_ACT.clip32_dis"] = not mode.code("clip32")
    summing = task.act_mode == "ACT" and task.alu_op1_mode in ("ACC", "SACC", "MUL")
    image["DE_ACT.pfpp_byp"] = not summing
    image["DE_ACT.a_size"] = 1
    rounding = _mode("act_round_mode", task.act_round_mode, "act_round_mode")
    image["DE_ACT.rnd_type"] = rounding.code()
    bits = str(task.act_sum_bits or 32)
    image["DE_ACT.func_size"] = _mode("act_sum_bits", bits, "act_sum_bits").code()
    if task.act_lsh not in ACT_SHIFTS:
        listed = "; ".join(",".join(map(str, shift)) for shift in ACT_SHIFTS)
        given = ",".join(map(str, task.act_lsh))
        raise EncodeError(f"is {given}; possible are {listed}", dim="act_lsh")
    image["DE_ACT.sum_psh"] = ACT_SHIFTS.index(task.act_lsh)
    _put_shift(image, task)
    _need_range("act_zero_point", task.act_zero_point, -(1 << 15), (1 << 15) - 1)
    image["DE_ACT.qzero_pt"] = task.act_zero_point
    for name in ("act_clip_min", "act_clip_max"):
        _need_range(name, getattr(task, name), -(1 << 31), (1 << 32) - 1)
    image.wrap("DE_ACT.qclp_min", task.act_clip_min)
    image.wrap("DE_ACT.qclp_max", task.act_clip_max)
    image["DE_ACT.tbl_en"] = task.table is not None


def _put_shift(image: Image, task: SliceTask) -> None:
    _need_range("act_rsh", task.act_rsh, 0, 63)
    _need_range("act_sh", task.act_sh, 0, 15)
    shift = task.act_rsh + 4 * task.act_sh
    _need_range("act_rsh", shift, 0, 63)
    image["DE_ACT.act_sh"] = shift


def _put_alu(image: Image, task: SliceTask) -> None:
    _mode("alu_op0", task.alu_op0_mode, "alu_op0_mode")
    number = _mode("number_format", task.alu_format, "alu_format").code()
    first = _mode("alu_op1", task.alu_op1_mode, "alu_op1_mode")
    second = _mode("alu_op1", task.alu_op1_mode_set1, "alu_op1_mode_set1")
    for mode, block in ((second, "CE.AL_MODE_C1"), (first, "CE.AL_MODE")):
        for flag in _MODE_FLAGS:
            image[f"{block}.{flag}"] = mode.code(flag)
        image[f"{block}.data_format"] = number
        if mode.code("init"):
            image["CE.INIT.init_val"] = mode.code("init")
        if mode.name == "SACC":
            image["CE.COMM.cewr_tgl_msb"] = number
        if mode.name == "SEL":
            image["CE.COMM.cewr_tgl_lsb"] = 1
    image["CE.AL_MODE.cepx_clr_en"] = not task.no_p_clear
    image["CE.AL_MODE.cepx_out_en"] = not task.no_p_output
    image["CE.AL_MODE_C1.cepx_clr_en"] = 1
    _put_implied_weight(image, task)
    _put_signs(image, task)


def _put_implied_weight(image: Image, task: SliceTask) -> None:
    """What the ALU takes for a weight when it does not multiply by one."""
    if task.alu_format == "BF":
        implied = _BF16_ONE
    else:
        implied = _ONE_AND_MINUS_ONE if task.alu_op1_mode == "SACC" else _ONE_AND_ONE
    image["CE.COMM.cewr_zp_val"] = implied
    if task.alu_op0_mode == "DBYP":
        image["CE.COMM.ceww_dis"] = 1 if task.alu_op1_mode in ("ACC", "SACC") else 2


def _put_signs(image: Image, task: SliceTask) -> None:
    for letter, mask in (("w", task.alu_w_unsigned), ("d", task.alu_d_unsigned)):
        _need_range(f"alu_{letter}_unsigned", mask, 0, 0xFF)
        image[f"CE.AL_MODE.unsigned_{letter}"] = mask & 0xF
        image[f"CE.AL_MODE_C1.unsigned_{letter}"] = mask >> 4


def _put_pad_value(image: Image, task: SliceTask) -> None:
    """A fill takes 32 bits of it, padding 16."""
    fills = task.act_disable == 0xF
    low, high = (-(1 << 31), (1 << 32) - 1) if fills else (-(1 << 15), (1 << 16) - 1)
    _need_range("pad_value", task.pad_value, low, high)
    image.wrap("DE_D_R.pad_value", task.pad_value)
    image.wrap("CE.COMM.pad_value", task.pad_value)


def _mode(group: str, name: str, field: str) -> Mode:
    known = modes(group)
    if name not in known:
        raise EncodeError(f"is {name!r}; there are {', '.join(known.modes)}", dim=field)
    return known[name]


def _put(image: Image, register: str, value: int, field: str) -> None:
    _need_range(field, value, 0, image.registers.field(register).mask)
    image[register] = value


def _need_range(field: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise EncodeError(f"is {value}; {low} to {high} are possible", dim=field)

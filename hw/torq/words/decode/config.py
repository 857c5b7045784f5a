"""From slice registers back to what ALU and activation unit do, in its canonical form."""

from ...facts.modes import modes
from ...facts.registers import Image
from ..commands import ACT_SHIFTS, SliceTask
from ..errors import DecodeError
from .memory import weight_mode

_FLAGS = (
    "op_mode",
    "pre_norm_en",
    "invert_comp",
    "output_idx",
    "cast_bool",
    "cast_int",
    "skip_first",
)
_ONE_AND_MINUS_ONE = 0xFF01


def configuration(image: Image, address: int) -> SliceTask:
    """The task that the registers configure, without loops, kernel rows and table.

    Raises DecodeError at `address`, where the task's words begin.
    """
    fills = bool(image["DE_Q_W.fill_en"])
    first, second = _operations(image, address)
    expanded = weight_mode(image)
    return SliceTask(
        wmem_format=expanded.word("format") if expanded else "SI",
        wbus_format="BF" if image["DE_W_R.d_type"] else "I",
        alu_format=_number_format(image["CE.AL_MODE.data_format"]),
        alu_op0_mode="DBYP" if image["CE.COMM.ceww_dis"] else "MUL",
        alu_op1_mode=first,
        alu_op1_mode_set1=second,
        alu_d_unsigned=image["CE.AL_MODE.unsigned_d"] | image["CE.AL_MODE_C1.unsigned_d"] << 4,
        alu_w_unsigned=image["CE.AL_MODE.unsigned_w"] | image["CE.AL_MODE_C1.unsigned_w"] << 4,
        alu_disable=image["CE.CG_CTRL.alu_disable"],
        act_disable=image["CTRL.act_dis"],
        act_format=_number_format(image["DE_ACT.func_type"]),
        act_mode=_act_mode(image, address),
        act_lsh=ACT_SHIFTS[image["DE_ACT.sum_psh"]],
        act_sum_bits={0: 8, 1: 16, 2: 0, 3: 48}[image["DE_ACT.func_size"]],
        act_rsh=image["DE_ACT.act_sh"],
        act_round_mode=modes("act_round_mode").named(code=image["DE_ACT.rnd_type"]) or "NTP",
        act_clip_min=image.signed("DE_ACT.qclp_min"),
        act_clip_max=image.signed("DE_ACT.qclp_max"),
        act_zero_point=image.signed("DE_ACT.qzero_pt"),
        no_p_clear=not image["CE.AL_MODE.cepx_clr_en"],
        no_p_output=not image["CE.AL_MODE.cepx_out_en"],
        kernel_left=image["CE.COMM.knl_l"],
        kernel_right=image["CE.COMM.knl_r"],
        pad_left=image["CE.COMM.lpad_en"],
        pad_right=image["CE.COMM.rpad_en"],
        pad_value=image.signed("DE_Q_W.fill_val" if fills else "CE.COMM.pad_value"),
        stride=2 if image["CE.COMM.stride"] else 1,
        stride_offset=image["CE.COMM.stride_offset"],
    )


def _number_format(code: int) -> str:
    return "BF" if code else "I"


def _act_mode(image: Image, address: int) -> str:
    code, clips = image["DE_ACT.act_mode"], not image["DE_ACT.clip32_dis"]
    found = modes("act_mode").named(code=code, clip32=int(clips))
    if found is None:
        raise DecodeError(address, f"DE_ACT.act_mode {code} is no known activation")
    return found


def _operations(image: Image, address: int) -> tuple[str, str]:
    """The second operations of both sets. AMIN and GT have the same words, as have others."""
    first = _candidates(image, "CE.AL_MODE")
    second = _candidates(image, "CE.AL_MODE_C1")
    initial = image["CE.INIT.init_val"]
    for one in first:
        for other in second:
            start = modes("alu_op1")[one].code("init") or modes("alu_op1")[other].code("init")
            if start == initial and _toggles(one, other, image):
                return one, other
    raise DecodeError(address, "CE.AL_MODE, CE.INIT and CE.COMM together are no known operation")


def _candidates(image: Image, block: str) -> list[str]:
    values = {flag: image[f"{block}.{flag}"] for flag in _FLAGS}
    return [
        mode.name
        for mode in modes("alu_op1").modes.values()
        if all(mode.code(flag) == value for flag, value in values.items())
    ]


def _toggles(first: str, second: str, image: Image) -> bool:
    """Whether what the operations do to weights is what CE.COMM says."""
    floating = image["CE.AL_MODE.data_format"]
    both = (first, second)
    subtracts = image["CE.COMM.cewr_zp_val"] == _ONE_AND_MINUS_ONE and not floating
    return (
        image["CE.COMM.cewr_tgl_msb"] == (floating if "SACC" in both else 0)
        and image["CE.COMM.cewr_tgl_lsb"] == ("SEL" in both)
        and (bool(floating) or subtracts == (first == "SACC"))
    )

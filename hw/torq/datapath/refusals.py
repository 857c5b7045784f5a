"""Register fields whose meaning nobody outside the vendor knows: refused by name unless unused."""

from ..facts.registers import Image
from ..faults import NotModelled

_ALWAYS = (
    "DE_D_R.xy_mode",
    "DE_D_R.simd_merge",
    "DE_B_RX.slv_idx",
    "DE_Q_W.xpad_ops",
    "DE_Q_W.xpad_n",
    "DE_Q_W.ypad_ops",
    "DE_Q_W.ypad_n",
    "DE_Q_W.pad_value",
    "DE_Q_W.ndss_sidx",
    "DE_Q_W.ndss_idx",
    "DE_Q_W.ndss_size",
    "DE_ACT.qclp_ops",
    "DE_ACT.nan_mode",
    "DE_ACT.b_ops",
    "DE_ACT.fp8_stype",
    "DE_ACT.fp8_sat",
    "DE_ACT.sh_mode",
    "DE_ACT.glb_scl",
    "CE.COMM.cedr_done_id",
    "CE.COMM.cewr_zp_en",
    "CE.COMM.w_to_bool",
    "CE.COMM.cewr_has_w",
    "CE.CTRL.cewr_s_break",
    "CE.CTRL.cedr_zp_en",
    "CE.CTRL.aldw_d_size",
    "CE.AL_MODE.nan_mode",
    "CE.AC_P.rmp_unsigned",
    "CE.CTRL_C1.cedw_s_size",
    "CE.CTRL_C1.cedr_d_size",
    "CE.CTRL_C1.cedr_d_step",
    "CE.CTRL_C1.cedr_g_size",
    "CE.CTRL_C1.cedr_n_size",
    "CE.CTRL_C1.cedr_s_size",
    "CE.CTRL_C1.cedr_i_size",
    "CE.CTRL_C1.cedr_b_size",
    "CE.CTRL_C1.cepr_n_size",
    "CE.CTRL_C1.aldw_d_size",
    "CE.CTRL_C1.cedr_l_size",
    "CE.CTRL_C1.cedr_zp_en",
)
_ONE = (
    "CE.CTRL.aldw_l_size",
    "CE.CTRL.aldw_s_size",
    "CE.CTRL_C1.aldw_l_size",
    "CE.CTRL_C1.aldw_s_size",
)
"""ALDW other than its default, the whole word once."""
_SECOND_MODES = (0, 0xA00, 0xE00)
"""CE.AL_MODE_C1 when the second operation set is unused: after a reset, and as encoders leave it
for integers and for floats."""


def refuse_unknown(image: Image) -> None:
    """Raises NotModelled when a field is set whose effect is not known."""
    for name in _ALWAYS:
        if image[name]:
            raise refusal(image, name)
    for name in _ONE:
        if image[name] != 1:
            raise refusal(image, name)
    address = image.registers.address("CE.AL_MODE_C1.op_mode")
    mode = image.words.get(address, 0)
    if mode not in _SECOND_MODES:
        raise NotModelled(
            f"CE.AL_MODE_C1 ({address:#05x}) is {mode:#x}: the second set of operations is not "
            "modelled",
            agent="CE.AL_MODE_C1",
            address=address,
        )


def refusal(image: Image, name: str, why: str = "") -> NotModelled:
    """The error for a field whose value is not modelled."""
    address = image.registers.address(name)
    reason = why or "its effect is not known, so it is not modelled"
    return NotModelled(
        f"{name} ({address:#05x}) is {image[name]:#x}: {reason}", agent=name, address=address
    )

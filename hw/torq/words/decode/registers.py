"""From slice registers back to the loops of the register agents, in their canonical form.

What the registers do not hold is left out: an agent whose fields are as if it were not there, the
T and L dimensions of writers, and which of several equal forms was given.
"""

from ...facts.registers import Image
from ..commands import Dim, Ndl, SliceTask
from .memory import unit


def register_agents(image: Image, task: SliceTask, bias_bytes: int) -> tuple[Ndl, ...]:
    """Every register agent that has left a trace."""
    found = [
        _data_write(image, 0),
        _data_write(image, 1),
        _data_read(image, 0, task),
        _data_read(image, 1, task),
        _latch(image, 0),
        _latch(image, 1),
        _weight_write(image),
        _weight_read(image),
        _partials(image),
        _second_partials(image),
        _partials_out(image),
        _sums(image),
        _bias_read(image, bias_bytes),
    ]
    return tuple(ndl for ndl in found if ndl is not None)


def _block(number: int) -> str:
    return "CE.CTRL_C1" if number else "CE.CTRL"


def _dim(tag: str, count: int, stride: int = 0, pad: int = 0) -> Dim:
    return Dim(count=count, stride=stride, tag=tag, pad=pad)


def _data_read(image: Image, number: int, task: SliceTask) -> Ndl | None:
    block = _block(number)
    fields = ("i_size", "b_size", "d_size", "d_step", "g_size", "n_size", "s_size", "l_size")
    values = {name: image[f"{block}.cedr_{name}"] for name in fields}
    if not any(values.values()) and (number or not image["CE.CTRL.cedr_i1_size"]):
        return None
    repeat, size = values["i_size"] or 4, values["b_size"] or 4
    group = {0: 64, 3: 32, 2: 16, 1: 8}[values["d_size"]]
    stride = {0: size, 1: 2, 2: 4, 3: 36}[values["d_step"]]
    if size == 4 and values["d_size"] == 0 and values["d_step"] == 2:
        group, stride = 16, 16
    kernel = not number and task.kernel_left + task.kernel_right > 0
    low: tuple[Dim, ...] = (
        _dim("I", repeat),
        unit(size),
        _dim("D", group // repeat // size, stride),
    )
    if not values["g_size"]:
        low = (*low, _dim("G", 4, group))
    high = (
        _dim("L", values["l_size"] or 4),
        _dim("S", 1 if kernel else values["s_size"] or 4, 1),
        _dim("N", values["n_size"] or (1 << 8 if number else 1 << 24)),
    )
    return Ndl(agent="CEDR", set=number, low=low, high=high)


def _weight_read(image: Image) -> Ndl | None:
    steps = image["CE.CTRL.cewr_s_size"]
    if not steps:
        return None
    size = image["CE.CTRL.cewr_b_size"] or 4
    data = 1 if image["CE.CTRL.cewr_d_size"] else 2
    groups = {1: 1, 2: 4, 3: 8, 0: 16}[image["CE.CTRL.cewr_g_size"]]
    return Ndl(
        agent="CEWR",
        low=(
            _dim("J", image["CE.CTRL.cewr_j_size"] or 4),
            unit(size),
            _dim("D", data, size),
            _dim("G", groups, size * data),
        ),
        high=(
            _dim("L", image["CE.CTRL.cewr_l_size"] or 4),
            _dim("S", steps, size * data * groups, -image["CE.CTRL.cewr_s_break"]),
            _dim(
                "W" if image["CE.COMM.cewr_has_w"] else "N",
                image["CE.CTRL.cewr_n_size"] or 1 << 24,
            ),
        ),
    )


def _partials(image: Image) -> Ndl | None:
    steps, blocks = image["CE.CTRL.cepw_n_size"], image["CE.CTRL.cepw_t_size"]
    if not steps and not blocks:
        return None
    high = (_dim("N", steps or 1 << 16), _dim("T", blocks or 1 << 24))
    return Ndl(agent="CEPR", low=(unit(4),), high=high)


def _second_partials(image: Image) -> Ndl | None:
    steps = image["CE.CTRL_C1.cepr_n_size"]
    return Ndl(agent="CEPR", set=1, low=(unit(4),), high=(_dim("N", steps),)) if steps else None


def _partials_out(image: Image) -> Ndl | None:
    steps = image["CE.AC_P.cepr_s1_size"]
    if not steps:
        return None
    step = image["CE.AC_P.cepr_s1_step"]
    stride = {4: 16, 3: 32, 2: 64, 1: 128}.get(step, 256 if steps > 1 else 0)
    data = _dim("D", image["CE.AC_P.cepr_d_size"] or 16, 4 * image["CE.AC_P.cepr_d_step"])
    return Ndl(
        agent="ACPR",
        low=(unit(image["CE.AC_P.cepr_b_size"] or 4), data),
        high=(_dim("S", steps, stride),),
    )


def _sums(image: Image) -> Ndl | None:
    together = 1 << image["DE_ACT.sum_pgrp"]
    if together == 1:
        return None
    return Ndl(agent="ACPW", low=(unit(4), _dim("D", together, 4), _dim("G", 16 // together)))


def _bias_read(image: Image, bias_bytes: int) -> Ndl | None:
    sizes = {(0, 1): 8, (1, 0): 2, (1, 1): 4}
    size = sizes.get((image["DE_ACT.a_glb"], image["DE_ACT.b_size"]))
    if size is None:
        return None
    low = (unit(size), _dim("D", bias_bytes // size if bias_bytes else 1, size))
    return Ndl(agent="ACBR", low=low, high=(_dim("M", image["DE_ACT.m_size"] or 1 << 24),))


def _data_write(image: Image, number: int) -> Ndl | None:
    steps = image[f"{_block(number)}.cedw_s_size"]
    off = bool(number or image["CE.COMM.cedw_dis"])
    if not steps and off:
        return None
    high = (_dim("S", steps or 4), _dim("T", 0 if off and not number else 1))
    return Ndl(agent="CEDW", set=number, high=high)


def _weight_write(image: Image) -> Ndl | None:
    steps = image["CE.CTRL.ceww_s_size"]
    return Ndl(agent="CEWW", high=(_dim("S", steps),)) if steps else None


def _latch(image: Image, number: int) -> Ndl | None:
    block = _block(number)
    narrow = image[f"{block}.aldw_d_size"]
    repeat, steps = image[f"{block}.aldw_l_size"], image[f"{block}.aldw_s_size"]
    if (narrow, repeat, steps) == (0, 1, 1):
        return None
    low = (_dim("D", 64 if narrow else 256, 1),)
    return Ndl(
        agent="ALDW", set=number, low=low, high=(_dim("L", repeat or 4), _dim("S", steps or 4, 1))
    )

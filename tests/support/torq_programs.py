"""Legal command lists for the NPU, drawn at random."""

from hypothesis import strategies as st

from assay.hw.torq.facts.modes import modes
from assay.hw.torq.words.commands import (
    ACT_SHIFTS,
    Dim,
    Ndl,
    NssProgram,
    NssTask,
    SliceProgram,
    SliceTask,
)

ADDRESS = st.integers(0, 0x7FFF).map(lambda value: 8 * value)
STRIDE = st.integers(-4096, 4096)


def unit(size: int, tag: str = "B") -> Dim:
    return Dim(count=size, stride=1, tag=tag)


@st.composite
def high(draw: st.DrawFn, tags: str = "AIJXYOUVG", least: int = 1) -> tuple[Dim, ...]:
    count = draw(st.integers(least, 6))
    return tuple(
        Dim(
            count=draw(st.integers(1, 12)),
            stride=draw(STRIDE),
            tag=draw(st.sampled_from([*tags, ""])),
            pad=draw(st.sampled_from([0, 0, 0, 3, 15])),
        )
        for _ in range(count)
    )


@st.composite
def run(draw: st.DrawFn, size: int, most: int) -> tuple[Dim, ...]:
    """Contiguous data of `size` bytes each, at most `most` bytes together; maybe in two dims."""
    count = draw(st.integers(1, most // size))
    tag = draw(st.sampled_from(["D", ""]))
    if count % 2 == 0 and draw(st.booleans()):
        return (
            Dim(count=2, stride=size, tag=tag),
            Dim(count=count // 2, stride=2 * size, tag=tag),
        )
    return (Dim(count=count, stride=size, tag=tag),)


@st.composite
def memory(
    draw: st.DrawFn, agent: str, low: tuple[Dim, ...], number: int = 0, sync: str = ""
) -> Ndl:
    loops = draw(high())
    return Ndl(
        agent=agent,
        set=number,
        low=low,
        high=loops,
        base_address=draw(ADDRESS),
        sync_mode=sync,
        sync_nhd=draw(st.integers(0, len(loops))),
    )


@st.composite
def inputs(draw: st.DrawFn, task: SliceTask, sync: str) -> Ndl:
    size = draw(st.sampled_from([1, 2, 4]))
    groups = draw(st.sampled_from([1, 2, 4]))
    low = (unit(size), *draw(run(size, 72 // groups)))
    if groups > 1 or draw(st.booleans()):
        low = (*low, Dim(count=groups, stride=size * draw(st.integers(-99, 99)), tag="G"))
    ndl = draw(memory("DEDR", low, sync=sync))
    if task.stride == 2:
        loops = (Dim(count=2, stride=1, tag="I"), Dim(count=2, stride=64, tag="J"), *ndl.high[:4])
        return Ndl(agent="DEDR", low=low, high=loops, base_address=ndl.base_address, sync_mode=sync)
    return ndl


@st.composite
def weights(draw: st.DrawFn) -> tuple[Ndl, str, str]:
    """Weights with their formats in memory and on the bus."""
    plain = draw(st.booleans())
    if plain:
        size = draw(st.sampled_from([1, 2, 4]))
        memory_format, bus = draw(st.sampled_from([("SI", "I"), ("UI", "I"), ("BF", "BF")]))
        size = 2 if bus == "BF" else size
        return draw(memory("DEWR", (unit(size), *draw(run(size, 32))))), memory_format, bus
    mode = draw(st.sampled_from(list(modes("weight_format").modes.values())))
    bits = mode.code("bits")
    bus = draw(st.sampled_from(mode.word("wbus").split()))
    first = unit(bits, "b") if bits < 8 else unit(1)
    count = draw(st.integers(1, 16 if bus == "BF" else 32))
    step = bits if bits < 8 else 1
    low = (first, Dim(count=count, stride=step, tag="D"))
    return draw(memory("DEWR", low)), mode.word("format"), bus


@st.composite
def outputs(draw: st.DrawFn) -> Ndl:
    size = draw(st.sampled_from([1, 2, 4]))
    kind = draw(st.sampled_from(["plain", "halves", "alternating", "plane"]))
    special: tuple[Dim, ...] = ()
    low: tuple[Dim, ...]
    if kind == "halves":
        total = draw(st.sampled_from([16, 32, 64]))
        data = Dim(count=total // size // 2, stride=size, tag="D")
        low = (unit(size), data, Dim(count=2, stride=draw(st.integers(100, 999)), tag="G"))
    elif kind == "alternating":
        data = Dim(count=2, stride=draw(st.integers(100, 999)), tag="D")
        low = (unit(size), data, Dim(count=draw(st.integers(1, 8)), stride=size, tag="G"))
    else:
        low = (unit(size), *draw(run(size, 64)))
    if kind == "plane":
        special = draw(planes())
    ndl = draw(memory("DEQW", low))
    return Ndl(agent="DEQW", low=low, high=ndl.high, special=special, base_address=ndl.base_address)


@st.composite
def planes(draw: st.DrawFn) -> tuple[Dim, ...]:
    size = draw(st.sampled_from([1, 2]))
    dims = [unit(size)]
    if draw(st.booleans()):
        dims.append(Dim(count=draw(st.integers(1, 99)), stride=size, tag="X"))
    else:
        dims.append(Dim(count=2, stride=draw(st.integers(100, 999)), tag="X"))
        dims.append(Dim(count=draw(st.integers(1, 50)), stride=size, tag="X"))
    rows = draw(st.integers(0, 2))
    if rows == 1:
        dims.append(Dim(count=draw(st.integers(1, 60)), stride=draw(STRIDE), tag="Y"))
    if rows == 2:
        dims.append(Dim(count=2, stride=draw(st.integers(1000, 5000)), tag="Y"))
        dims.append(Dim(count=draw(st.integers(1, 60)), stride=draw(STRIDE), tag="Y"))
    return tuple(dims)


@st.composite
def register_agents(draw: st.DrawFn, bias_bytes: int) -> tuple[Ndl, ...]:
    repeat, size = draw(st.sampled_from([(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4)]))
    group = draw(st.sampled_from([8, 16, 32, 64]))
    stride = draw(st.sampled_from([size, 2, 4, 16, 36]))
    groups = draw(st.sampled_from([g for g in (1, 4, 8, 16, 32) if g * group <= 256]))
    cedr = Ndl(
        agent="CEDR",
        low=(
            *((Dim(count=repeat, tag="I"),) if repeat > 1 else ()),
            unit(size),
            Dim(count=group // repeat // size, stride=stride, tag="D"),
            Dim(count=groups, stride=group, tag="G"),
        ),
        high=(
            Dim(count=draw(st.integers(1, 4)), tag="L"),
            Dim(count=draw(st.integers(1, 4)), stride=1, tag="S"),
            Dim(count=draw(st.sampled_from([1, 7, 1 << 12])), tag="M"),
            Dim(count=draw(st.sampled_from([1, 5, 1 << 12])), tag="N"),
            Dim(count=9, tag="T"),
        ),
    )
    partials = (
        Dim(count=draw(st.sampled_from([1, 9, 1 << 16])), tag="N"),
        Dim(count=draw(st.sampled_from([1, 77, 1 << 20])), tag="T"),
    )
    units = [size for size in (2, 4, 8) if bias_bytes // size in (1, 4, 8, 16)]
    bias_unit = draw(st.sampled_from(units if bias_bytes else [2, 4, 8]))
    found = [cedr, draw(weight_reads()), Ndl(agent="CEPR", low=(unit(4),), high=partials)]
    if draw(st.booleans()):
        found.append(Ndl(agent="CEPW", low=(unit(4),), high=partials))
    found.append(
        Ndl(
            agent="ACPR",
            low=(
                unit(draw(st.sampled_from([1, 2, 4]))),
                Dim(
                    count=draw(st.sampled_from([2, 4, 8, 16])),
                    stride=4 * draw(st.integers(0, 16)),
                    tag="D",
                ),
            ),
            high=(
                Dim(
                    count=draw(st.integers(1, 16)),
                    stride=draw(st.sampled_from([16, 32, 64, 128, 256])),
                    tag="S",
                ),
            ),
        )
    )
    together = draw(st.sampled_from([1, 2, 4]))
    sums = (unit(4), Dim(count=together, stride=4, tag="D"), Dim(count=16 // together, tag="G"))
    found.append(Ndl(agent="ACPW", low=sums))
    data = bias_bytes // bias_unit if bias_bytes else draw(st.sampled_from([1, 4, 8, 16]))
    low = (unit(bias_unit), Dim(count=data, stride=bias_unit, tag="D"))
    found.append(Ndl(agent="ACBR", low=low, high=(Dim(count=draw(st.integers(1, 99)), tag="M"),)))
    found.append(
        Ndl(
            agent="CEDW",
            high=(
                Dim(count=draw(st.integers(1, 4)), tag="S"),
                Dim(count=draw(st.integers(0, 9)), tag="T"),
            ),
        )
    )
    found.append(Ndl(agent="CEWW", high=(Dim(count=draw(st.sampled_from([1, 2, 4])), tag="S"),)))
    latch = (
        Dim(count=draw(st.sampled_from([1, 2, 4])), tag="L"),
        Dim(count=draw(st.sampled_from([1, 4])), stride=1, tag="S"),
    )
    found.append(
        Ndl(
            agent="ALDW",
            low=(Dim(count=draw(st.sampled_from([64, 256])), stride=1, tag="D"),),
            high=latch,
        )
    )
    kept = draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    needed = ("ACBR",) if bias_bytes else ()
    return tuple(ndl for ndl, keep in zip(found, kept, strict=True) if keep or ndl.agent in needed)


@st.composite
def weight_reads(draw: st.DrawFn) -> Ndl:
    size = draw(st.sampled_from([1, 2, 4]))
    data, groups = draw(st.integers(1, 32)), draw(st.sampled_from([1, 4, 8, 16]))
    steps = draw(st.integers(1, 36))
    words = draw(st.booleans())
    return Ndl(
        agent="CEWR",
        low=(
            Dim(count=draw(st.sampled_from([1, 2, 4])), tag="J"),
            unit(size),
            Dim(count=data, stride=size, tag="D"),
            Dim(count=groups, stride=size * data, tag="G"),
        ),
        high=(
            Dim(count=draw(st.integers(1, 4)), tag="L"),
            Dim(
                count=steps,
                stride=size * data * groups,
                tag="S",
                pad=-draw(st.integers(0, steps - 1)),
            ),
            Dim(count=draw(st.sampled_from([1, 3, 1 << 20])), tag="W" if words else "N"),
        ),
    )


@st.composite
def configurations(draw: st.DrawFn) -> SliceTask:
    """A task without loops."""
    stride = draw(st.sampled_from([1, 1, 2]))
    left, top = draw(st.sampled_from(_KERNELS[stride])), draw(st.sampled_from(_KERNELS[stride]))
    fill = draw(st.sampled_from([0, 0, 0, 3, 15]))
    table = draw(st.sampled_from([None, None, (1, 2, 0xFFFFFFFF)]))
    return SliceTask(
        alu_format=draw(st.sampled_from(["I", "BF"])),
        alu_op0_mode=draw(st.sampled_from(["MUL", "DBYP"])),
        alu_op1_mode=draw(st.sampled_from(list(modes("alu_op1").modes))),
        alu_d_unsigned=draw(st.integers(0, 255)),
        alu_w_unsigned=draw(st.integers(0, 255)),
        alu_disable=draw(st.sampled_from([0, 0xFFF0, 0xFFFF])),
        act_disable=fill,
        act_format=draw(st.sampled_from(["I", "BF"])),
        act_mode=draw(st.sampled_from(list(modes("act_mode").modes))),
        act_lsh=draw(st.sampled_from(ACT_SHIFTS)),
        act_sum_bits=draw(st.sampled_from([0, 8, 16, 32, 48])),
        act_rsh=draw(st.integers(0, 63)),
        act_round_mode=draw(st.sampled_from(list(modes("act_round_mode").modes))),
        act_clip_min=draw(st.integers(-(1 << 31), 0)),
        act_clip_max=draw(st.integers(0, (1 << 31) - 1)),
        act_zero_point=draw(st.integers(-(1 << 15), (1 << 15) - 1)),
        no_p_clear=draw(st.booleans()),
        no_p_output=draw(st.booleans()),
        kernel_left=left[0],
        kernel_right=left[1],
        kernel_top=top[0],
        kernel_bottom=top[1],
        pad_left=draw(st.integers(0, 1)),
        pad_right=draw(st.integers(0, 1)),
        pad_top=draw(st.sampled_from([0, top[0]])),
        pad_bottom=draw(st.sampled_from([0, top[1]])),
        pad_value=draw(st.integers(-(1 << 15), (1 << 16) - 1)),
        stride=stride,
        stride_offset=draw(st.integers(0, 1)) if stride == 2 and left[0] and top[0] else 0,
        table=table,
    )


_KERNELS = {
    1: [(0, 0), (1, 1), (0, 1), (1, 0), (2, 2), (3, 3), (1, 2)],
    2: [(0, 0), (0, 1), (1, 1), (2, 2), (3, 3), (2, 3)],
}


@st.composite
def slice_tasks(draw: st.DrawFn) -> SliceTask:
    task = draw(configurations())
    plane = (
        Dim(count=draw(st.integers(1, 80)), stride=1, tag="X"),
        Dim(count=draw(st.integers(1, 60)), stride=80, tag="Y"),
    )
    ndls = [Ndl(agent="REF", high=plane)]
    gathers = draw(st.booleans())
    if draw(st.booleans()):
        ndls.append(draw(inputs(task, "" if gathers else draw(st.sampled_from(["", "R", "P"])))))
    if gathers:
        offsets = (unit(2), *draw(run(2, 72)))
        sync = draw(st.sampled_from(["R", "P"]))
        ndls.append(draw(memory("DEDR", offsets, 1, sync)))
    weight, memory_format, bus = draw(weights())
    if draw(st.booleans()):
        ndls.append(weight)
    else:
        memory_format, bus = "SI", "I"
    bias_bytes = draw(st.sampled_from([0, 4, 8, 16, 32]))
    if bias_bytes:
        low = (unit(4), Dim(count=bias_bytes // 4, stride=4, tag="D"))
        ndls.append(draw(memory("DEBR", low)))
    if draw(st.booleans()):
        ndls.append(draw(memory("DEBR", (unit(2), *draw(run(2, 32))), 1, "R")))
    if draw(st.booleans()):
        ndls.append(draw(outputs()))
    ndls += draw(register_agents(bias_bytes))
    return _with(task, ndls=tuple(ndls), wmem_format=memory_format, wbus_format=bus)


def _with(task: SliceTask, **changes: object) -> SliceTask:
    values = {name: getattr(task, name) for name in SliceTask.__dataclass_fields__}
    return SliceTask(**{**values, **changes})


@st.composite
def slice_programs(draw: st.DrawFn) -> SliceProgram:
    tasks = draw(st.lists(slice_tasks(), min_size=1, max_size=3))
    linked = draw(st.booleans())
    placed = [
        _with(task, address=0x20000 * number if linked and number else None)
        for number, task in enumerate(tasks)
    ]
    return SliceProgram(address=draw(st.integers(0, 99).map(lambda n: 4 * n)), tasks=tuple(placed))


@st.composite
def dma_rows(draw: st.DrawFn, size: int) -> tuple[tuple[Dim, ...], int]:
    """A strided side's loops, and how many bytes they move."""
    rows = draw(st.lists(st.integers(1, 20), max_size=3))
    length = draw(st.integers(1, 99))
    total = length * size
    dims = [Dim(count=length, stride=size)]
    for count in rows:
        dims.append(Dim(count=count, stride=size * draw(st.integers(-999, 999))))
        total *= count
    return tuple(dims), total


@st.composite
def nss_tasks(draw: st.DrawFn) -> NssTask:
    flag = st.booleans()
    reads, writes = draw(flag), draw(flag)
    ndls: list[Ndl] = []
    for starts, strided, linear in ((reads, "DIXR", "DILW"), (writes, "DOXW", "DOLR")):
        if starts:
            size = draw(st.sampled_from([1, 2]))
            loops, total = draw(dma_rows(size))
            low: tuple[Dim, ...] = (unit(1),)
            if linear == "DILW" and total % 2 == 0 and draw(flag):
                low, total = (unit(1), Dim(count=2, stride=8 * draw(STRIDE), tag="G")), total // 2
            ndls += [
                Ndl(agent=strided, low=(unit(size),), high=loops, base_address=draw(ADDRESS)),
                Ndl(
                    agent=linear,
                    low=low,
                    high=(Dim(count=total, stride=1),),
                    base_address=draw(ADDRESS),
                ),
            ]
    word = st.integers(0, (1 << 32) - 1)
    return NssTask(
        ndls=tuple(ndls),
        slc_start=(draw(flag), draw(flag)),
        slc_wait=(draw(flag), draw(flag)),
        slc_cfg_addr=(draw(ADDRESS), draw(ADDRESS)),
        dma_xr_start=reads,
        dma_xr_wait=draw(flag),
        dma_xr_attr=draw(st.sampled_from([0, 0xA53F, 0xFF7F])),
        dma_mtu_xr=draw(st.integers(0, 15)),
        dma_xw_start=writes,
        dma_xw_wait=draw(flag),
        dma_xw_attr=draw(st.sampled_from([0, 0xA53F])),
        dma_mtu_xw=draw(st.integers(0, 15)),
        css_start=draw(flag),
        css_wait=draw(flag),
        css_start_mode=draw(st.integers(0, 1)),
        css_wait_mode=draw(st.integers(0, 1)),
        css_start_addr=draw(word),
        css_mbx=(draw(word), draw(word), draw(word), draw(word)),
        cdma_start=draw(flag),
        cdma_wait=draw(flag),
        cdma_src_addr=draw(word),
        cdma_dst_addr=draw(word),
        cdma_len=draw(st.integers(1, 0xFFFF)),
    )


@st.composite
def nss_programs(draw: st.DrawFn) -> NssProgram:
    tasks = draw(st.lists(nss_tasks(), min_size=1, max_size=4))
    return NssProgram(address=draw(st.sampled_from([0, 0x280])), tasks=tuple(tasks))

"""The abstract command list of the NPU: what a program for it says, before it becomes words.

A slice task is one configuration of every agent of a slice, run to completion; an NSS task starts
units and waits for units. Both describe data movement with NDLs (n-dimensional loops). Field names
are those of the hardware's programming interface. Knows nothing of words and addresses of
registers; `encode` turns these objects into words and `decode` words into them.
"""

from dataclasses import dataclass, field

from ..notes import TaskNote

SLICES = 2
ACT_SHIFTS = ((0, 0, 0, 0), (0, 8, 0, 8), (0, 8, 8, 16), (0, 8, 16, 24))
"""The left shifts of four neighbouring partial sums that the hardware knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dim:
    """One loop: `count` steps of `stride` bytes (bits if the first low dimension has tag `b`).

    `tag` is one letter or empty; `pad` is bytes to append after the loop (leave it 0), except in
    CEWR's S dimension, where -pad is the number of steps the last round is short of.
    """

    count: int
    stride: int = 0
    tag: str = ""
    pad: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ndl:
    """What one agent iterates: `low` within one transfer, `high` over transfers, innermost first.

    `special` is DEQW's second nest, over the output plane. `set` is 1 for the index streams DEDR1
    and DEBR1 and for the second operation set. `sync_mode` is `R` (round robin, starting here), `P`
    (producer) or empty; `sync_nhd` high dimensions make one unit of synchronisation.
    `descriptor_address` is where in LRAM the descriptor of a memory agent goes; None puts it behind
    the program's command words.
    """

    agent: str
    set: int = 0
    low: tuple[Dim, ...] = ()
    high: tuple[Dim, ...] = ()
    special: tuple[Dim, ...] = ()
    base_address: int = 0
    sync_mode: str = ""
    sync_nhd: int = 0
    descriptor_address: int | None = None

    @property
    def name(self) -> str:
        """The agent with its set where that matters: `DEDR`, `DEDR1`."""
        return f"{self.agent}1" if self.set else self.agent


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTask:
    """One run of a slice: its agents' loops and the configuration of ALU, activation and windows.

    `address` None continues behind the previous task; a number makes the previous task link there.
    """

    ndls: tuple[Ndl, ...] = ()
    wmem_format: str = "SI"
    """Weights in memory: SI, UI (signed, unsigned integers), NF (NF4), FP, FN (floats), BF."""
    wbus_format: str = "I"
    """Weights after expansion: I or BF."""
    alu_format: str = "I"
    """I or BF."""
    alu_op0_mode: str = "MUL"
    alu_op1_mode: str = "ACC"
    alu_op1_mode_set1: str = "ACC"
    """The second operation set's; no known program uses it."""
    alu_d_unsigned: int = 0
    """A bit per lane index modulo 4 (bits 0-3; bits 4-7 for the second set): data is unsigned."""
    alu_w_unsigned: int = 0
    """The same for weights."""
    alu_disable: int = 0
    """A bit per group of 16 ALU lanes (of 16)."""
    act_disable: int = 0
    """A bit per group of 4 activation lanes (of 4); 15 makes DEQW fill with `pad_value`."""
    act_format: str = "I"
    """I or BF."""
    act_mode: str = "ACT"
    act_lsh: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Left shifts of four neighbouring partial sums; one of ACT_SHIFTS."""
    act_sum_bits: int = 0
    """8, 16, 32 or 48; 0 means 32."""
    act_rsh: int = 0
    """Right shift after scaling, 0 to 63."""
    act_sh: int = 0
    """An older way to say the shift, in units of 4; leave it 0."""
    act_round_mode: str = "NTP"
    act_clip_min: int = 0
    """Signed 32 bits; of a float task, the bits of a float32."""
    act_clip_max: int = 0
    act_zero_point: int = 0
    no_p_clear: bool = False
    no_p_output: bool = False
    kernel_left: int = 0
    kernel_right: int = 0
    kernel_top: int = 0
    kernel_bottom: int = 0
    pad_left: int = 0
    """1 when columns left of the plane are padding; how far is `kernel_left`."""
    pad_right: int = 0
    pad_top: int = 0
    """0 or `kernel_top`."""
    pad_bottom: int = 0
    pad_value: int = 0
    stride: int = 1
    stride_offset: int = 0
    table: tuple[int, ...] | None = None
    """Words of the look-up table, slope << 16 | base & 0xFFFF; up to 512, zeros follow."""
    address: int | None = None
    note: TaskNote | None = field(default=None, compare=False, repr=False)
    """What it is for, if a compiler said so; not encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NssTask:
    """Units to start, with their parameters, and units to wait for.

    The DMA channels take their loops from `ndls`: DIXR and DILW (XR), DOLR and DOXW (XW).
    """

    ndls: tuple[Ndl, ...] = ()
    slc_start: tuple[bool, bool] = (False, False)
    slc_wait: tuple[bool, bool] = (False, False)
    slc_cfg_addr: tuple[int, int] = (0, 0)
    """LRAM address of each slice's command words."""
    dma_xr_start: bool = False
    dma_xr_wait: bool = False
    dma_xr_attr: int = 0
    """AXI attributes: qos[15:12], cache[11:8], prot[6:4], user[3:0]."""
    dma_mtu_xr: int = 0
    """Bursts of 1 << mtu beats; 0 means the default, 2."""
    dma_xw_start: bool = False
    dma_xw_wait: bool = False
    dma_xw_attr: int = 0
    dma_mtu_xw: int = 0
    pad_value: int = 0
    css_start: bool = False
    css_wait: bool = False
    css_start_mode: int = 0
    """0 releases the core's reset, 1 wakes it by mailbox."""
    css_wait_mode: int = 0
    """0 puts the core into reset afterwards, 1 leaves it sleeping."""
    css_start_addr: int = 0
    css_mbx: tuple[int, int, int, int] = (0, 0, 0, 0)
    cdma_start: bool = False
    cdma_wait: bool = False
    cdma_src_addr: int = 0
    """In the host's view, as the destination."""
    cdma_dst_addr: int = 0
    cdma_len: int = 0
    """Bytes."""
    address: int | None = None
    note: TaskNote | None = field(default=None, compare=False, repr=False)
    """As in SliceTask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceProgram:
    """Tasks one slice runs one after the other; command words from LRAM `address` on.

    `xram_address` is where the words are kept until a DMA brings them to LRAM, if they are.
    """

    tasks: tuple[SliceTask, ...]
    address: int = 0
    xram_address: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NssProgram:
    """Tasks of the NPU's own command stream; command words from LRAM `address` on."""

    tasks: tuple[NssTask, ...]
    address: int = 0
    xram_address: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Words and where they live. `role` is CDS (command words) or the name of a memory agent."""

    role: str
    task: int
    """The task they belong to, counted from 0."""
    lram_address: int
    xram_address: int | None
    words: tuple[int, ...]

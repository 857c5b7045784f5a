"""Four programs with the words that the hardware's own encoder gives for them."""

from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask

B1 = Dim(count=1, stride=1, tag="B")
B4 = Dim(count=4, stride=1, tag="B")
B8 = Dim(count=8, stride=1, tag="B")
ONCE = Dim(count=1, tag="G")


def dim(tag: str, count: int, stride: int = 0) -> Dim:
    return Dim(count=count, stride=stride, tag=tag)


def words(text: str) -> tuple[int, ...]:
    """Words written in hexadecimal."""
    return tuple(int(word, 16) for word in text.split())


LOAD_RUN_STORE = NssProgram(
    tasks=(
        NssTask(
            ndls=(
                Ndl(agent="DIXR", low=(B1,), high=(dim("", 256, 1),), base_address=0x100000),
                Ndl(agent="DILW", low=(B1,), high=(dim("", 256, 1),), base_address=0x600),
            ),
            dma_xr_start=True,
            dma_xr_wait=True,
            dma_mtu_xr=4,
        ),
        NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0)),
        NssTask(slc_wait=(True, False)),
        NssTask(
            ndls=(
                Ndl(agent="DOLR", low=(B1,), high=(dim("", 128, 1),), base_address=0x600),
                Ndl(
                    agent="DOXW",
                    low=(B1,),
                    high=(dim("", 16, 1), dim("", 8, 56)),
                    base_address=0x200000,
                ),
            ),
            dma_xw_start=True,
            dma_xw_wait=True,
            dma_mtu_xw=4,
        ),
    )
)
LOAD_RUN_STORE_WORDS = words("""
100c0100 00040000 00000000 00000100 00000600 10000100 00100000 00000001 00000000 00000000 00000000
00000000 00000000 10030008 00000001 00000004 00000004 60000004
10010200 01005a00 10030008 00000001 00000010 00000010 60000000
10030008 00000001 00000000 00000000 60000010
100b0130 00040000 00000080 00000600 10000010 00200000 00000008 00000038 00000000 00000000 00000000
00000000 10030008 00000001 00000008 00000008 e0000008
""")

COPY_AND_CALL = NssProgram(
    tasks=(
        NssTask(
            cdma_start=True,
            cdma_wait=True,
            cdma_src_addr=0x2000,
            cdma_dst_addr=0x1C0000,
            cdma_len=0x400,
        ),
        NssTask(css_start=True, css_mbx=(0x10000, 0, 0, 0)),
        NssTask(css_wait=True),
    )
)
COPY_AND_CALL_WORDS = words("""
1002c008 00000100 00001200 1001e20c 00000001 1003f008 00000001 00200200 00002000 1001f018 001c0000
1001f020 04000400 1003f028 00000044 00000044 00010001 1001f000 00000001 10030008 00000001 00000000
00000000 60001000 1001f004 00010000
1002c008 00001100 00001200 1004c020 00010000 00000000 00000000 00000000 1001d004 00000000 1001d000
00000001 1001d000 00000000 10030008 00000001 00000000 00000000 60000000
1002c008 00001100 00001200 10030008 00000001 00000000 00000000 60000200 1001c014 00000000 1001c008
00000000 9001d000 00000003
""")

MULTIPLY = SliceProgram(
    address=0x5A00,
    tasks=(
        SliceTask(
            ndls=(
                Ndl(agent="REF"),
                Ndl(
                    agent="DEDR",
                    low=(B1, dim("D", 16, 1)),
                    high=(ONCE, dim("O", 4, 16)),
                    base_address=0x1000,
                    descriptor_address=0x5B00,
                ),
                Ndl(
                    agent="DEWR",
                    low=(B1, dim("D", 16, 1)),
                    high=(ONCE, dim("O", 4, 16)),
                    base_address=0x1040,
                    descriptor_address=0x5B40,
                ),
                Ndl(
                    agent="DEBR",
                    low=(B4, dim("D", 2, 4)),
                    high=(ONCE,),
                    base_address=0x1080,
                    descriptor_address=0x5B80,
                ),
                Ndl(agent="CEDW", low=(B1, dim("D", 16, 1)), high=(dim("T", 4),)),
                Ndl(agent="CEWW", low=(B1, dim("D", 16, 1)), high=(dim("T", 4),)),
                Ndl(agent="CEDR", low=(B1, dim("D", 16, 1)), high=(dim("T", 4),)),
                Ndl(agent="CEWR", low=(B1, dim("D", 16, 0)), high=(dim("T", 4),)),
                Ndl(agent="CEPR", low=(B4, dim("D", 16, 4)), high=(dim("N", 1), dim("T", 4))),
                Ndl(agent="ACPR", low=(B4, dim("D", 16, 4)), high=(dim("T", 4),)),
                Ndl(agent="ACBW", low=(B8,), high=(dim("T", 1),)),
                Ndl(agent="ACBR", low=(B8,), high=(dim("M", 4), dim("T", 1))),
                Ndl(
                    agent="DEQW",
                    low=(B1, dim("D", 16, 1)),
                    high=(ONCE, dim("A", 4, 0)),
                    special=(B1, dim("X", 64, 1)),
                    base_address=0x10C0,
                    descriptor_address=0x5BC0,
                ),
            ),
            act_rsh=16,
            act_zero_point=-3,
            act_clip_min=-128,
            act_clip_max=127,
        ),
    ),
)
MULTIPLY_WORDS = {
    0x5A00: words("""
100e0080 40000000 00000001 00000a00 00000000 01010000 00000000 51000001 01000001 55000004 49050001
00000095 00000a01 0020a000 00000000 101f0004 10005b00 ffffffff 0000000f 00010000 00000000 00000010
00000000 00000000 00000000 10005b40 00000000 08005b80 00000000 00000000 00000000 10005bc0 00000000
00010040 00000000 01000000 00000000 00000000 00886400 00000400 0000fffd 00000000 ffffff80 0000007f
00060000 0000011f 0000011f e000011f
"""),
    0x5B00: words("a2001000 00000001 00000000 80000004 00000010"),
    0x5B40: words("a2001040 00000001 00000000 80000004 00000010"),
    0x5B80: words("a1001080 80000001 00000000"),
    0x5BC0: words("a20010c0 00000001 00000000 c0000004 00000000"),
}

CONVOLVE = SliceProgram(
    address=0x5000,
    tasks=(
        SliceTask(
            ndls=(
                Ndl(agent="REF", high=(dim("X", 8, 1), dim("Y", 8, 8))),
                Ndl(
                    agent="DEDR",
                    low=(B1, dim("D", 66, 1)),
                    high=(
                        ONCE,
                        dim("I", 1, 3),
                        dim("J", 3, 8),
                        dim("O", 2, 64),
                        dim("A", 1, 64),
                        dim("O", 1),
                        dim("O", 1, 128),
                    ),
                    base_address=0x1000,
                    descriptor_address=0x5100,
                ),
                Ndl(
                    agent="DEWR",
                    low=(B1, dim("D", 4, 1)),
                    high=(
                        ONCE,
                        dim("O", 3, 4),
                        dim("O", 3, 12),
                        dim("O", 2, 36),
                        dim("O", 1),
                        dim("O", 1, 72),
                        dim("O", 1),
                    ),
                    base_address=0x2000,
                    descriptor_address=0x5180,
                ),
                Ndl(
                    agent="DEBR",
                    low=(B4, dim("D", 2, 4)),
                    high=(ONCE, dim("O", 4, 8), dim("O", 1), dim("O", 1, 32), dim("O", 1)),
                    base_address=0x2100,
                    descriptor_address=0x5200,
                ),
                Ndl(agent="CEDW", low=(B1, dim("D", 66, 1)), high=(dim("T", 6),)),
                Ndl(agent="CEWW", low=(B1, dim("D", 4, 1)), high=(dim("T", 18),)),
                Ndl(agent="CEDR", low=(B1, dim("D", 64, 1)), high=(dim("T", 18),)),
                Ndl(agent="CEWR", low=(B1, dim("D", 1), dim("G", 4, 1)), high=(dim("T", 18),)),
                Ndl(agent="CEPR", low=(B4,), high=(dim("N", 18), dim("T", 1))),
                Ndl(agent="ACPR", low=(B4, dim("D", 16, 4)), high=(dim("S", 16, 64),)),
                Ndl(agent="ACBW", low=(B8,), high=(dim("T", 4),)),
                Ndl(agent="ACBR", low=(B8,), high=(dim("M", 4), dim("T", 4))),
                Ndl(
                    agent="DEQW",
                    low=(B1, dim("D", 16, 1)),
                    high=(
                        ONCE,
                        dim("A", 4),
                        dim("O", 4, 64),
                        dim("A", 1),
                        dim("O", 1, 256),
                        dim("O", 1, 256),
                    ),
                    special=(B1, dim("X", 64, 1)),
                    base_address=0x3000,
                    descriptor_address=0x5280,
                ),
            ),
            act_rsh=20,
            act_zero_point=5,
            act_clip_min=-128,
            act_clip_max=127,
            kernel_left=1,
            kernel_right=1,
            kernel_top=1,
            kernel_bottom=1,
            pad_left=1,
            pad_right=1,
            pad_top=1,
            pad_bottom=1,
            pad_value=-3,
        ),
    ),
)
CONVOLVE_WORDS = {
    0x5000: words("""
100e0080 40000000 00000001 00000a00 00000000 0101fffd 00000350 d1000001 01000001 59000001 41050012
00002095 00000a01 04282000 00000000 101f0004 c2005100 02020202 000048f2 00080009 40000000 00000000
0000fffd 00000000 00000000 04005180 00000000 08005200 00000000 00000000 00000000 10005280 00000000
00010040 00000000 01000000 00000000 00000000 008a6400 00000400 00000005 00000000 ffffff80 0000007f
00060000 0000011f 0000011f e000011f
"""),
    0x5100: words("""
a7000ff7 00000001 00000000 10000001 00000003 20000003 00000008 00000002 00000030 40000001 00fffff0
00000001 00ffffb0 80000001 00000030
"""),
    0x5180: words("""
a7002000 00000001 00000000 00000003 00000004 00000003 00000004 00000002 00000004 00000001 00ffffbc
00000001 00000004 80000001 00ffffbc
"""),
    0x5200: words("""
a5002100 00000001 00000000 00000004 00000008 00000001 00ffffe8 00000001 00000008 80000001 00ffffe8
"""),
    0x5280: words("""
a6003000 00000001 00000000 40000004 00000000 00000004 00000040 40000001 00ffff40 00000001 00000040
80000001 00000040
"""),
}

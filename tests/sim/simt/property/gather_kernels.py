"""Random kernels that keep many values alive: loads that are gathered, in loops and branches."""

from __future__ import annotations

import random

_HEAD = """#include <metal_stdlib>
using namespace metal;
kernel void f(device const float* x [[buffer(0)]], device const uint* ids [[buffer(1)]],
              device half4* h [[buffer(2)]], device float* y [[buffer(3)]],
              threadgroup float* part [[threadgroup(0)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_threadgroup]]) {
    uint at = ids[i & 63];
    float sum = 0;
"""


class _Writer:
    """Writes one kernel; the seed decides what."""

    def __init__(self, seed: int, most: int) -> None:
        self._random = random.Random(seed)
        self._most = most
        self._count = 0
        self.lines: list[str] = []

    def gathers(self, indent: str = "    ") -> list[str]:
        """Declare values that are loaded from places which loads tell; their names."""
        names = []
        for _ in range(self._random.randint(1, self._most)):
            name = f"v{self._count}"
            self._count += 1
            known = self._random.choice([*names, ""])
            index = f"uint({known}) + {self._count}u" if known else f"at * {self._count}u"
            load = self._random.choice(
                (
                    f"x[ids[({index}) & 63] & 63]",
                    f"x[({index}) & 63]",
                    f"float(h[ids[({index}) & 63] & 15][{self._count % 4}])",
                    f"part[({index}) & 63]",
                )
            )
            self.lines.append(f"{indent}float {name} = {load};")
            names.append(name)
        return names

    def uses(self, names: list[str], indent: str = "    ") -> None:
        """Use each value, in another order than that of the loads, some of them twice."""
        self._random.shuffle(names)
        twice = [name for name in names if self._random.random() < 0.3]
        products = [f"{a} * {b}" for a, b in zip(names, [*names[1:], "sum"], strict=True)]
        self.lines.append(f"{indent}sum += {' + '.join([*products, *twice])};")

    def loop(self) -> None:
        """A loop whose rounds the kernel's data tell, with values that live across it."""
        outer = self.gathers()
        rounds = self._random.choice(("ids[i & 7] & 3", "4", "lane & 3"))
        self.lines.append(f"    for (uint n = 0; n < ({rounds}); n++) {{")
        self.lines.append("        at += n + ids[at & 63];")
        self.uses(self.gathers("        "), "        ")
        if self._random.random() < 0.5:
            self.lines.append("        if (at & 1) y[at & 63] = sum;")
        self.lines.append("    }")
        self.uses(outer)

    def barrier(self) -> None:
        """Values that live across a barrier."""
        names = self.gathers()
        self.lines.append(
            "    part[lane & 63] = sum; threadgroup_barrier(mem_flags::mem_threadgroup);"
        )
        self.uses(names)

    def straight(self) -> None:
        """Loads, then what uses them."""
        self.uses(self.gathers())

    def kernel(self) -> str:
        """The text."""
        for _ in range(self._random.randint(1, 3)):
            self._random.choice((self.loop, self.barrier, self.straight))()
        return _HEAD + "\n".join([*self.lines, "    y[i & 63] = sum;", "}", ""])


def gather_kernel(seed: int, most: int = 200) -> str:
    """MSL of a kernel `f` with up to `most` values that are loaded before one of them is used."""
    return _Writer(seed, most).kernel()

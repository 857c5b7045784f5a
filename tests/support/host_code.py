"""Machine code for the board's own processor, compiled by clang when a test asks for it."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from assay.hal.torq.format import Binding, Executable, Segment, StartHost, WaitHost

from .torq_executables import OUTPUT, multiply

SCALED = OUTPUT + 0x2000
"""Where the host leaves its results."""

SOURCE = """\
#include <stddef.h>
#include <stdint.h>

void *memset(void *, int, size_t);

struct dispatch {
    uint32_t size_x, size_y;
    uint16_t size_z, constants;
    uint32_t count_x, count_y;
    uint16_t count_z;
    uint8_t concurrency, bindings;
    const uint32_t *constant;
    void *const *binding;
    const size_t *length;
};

#define KERNEL(name) int name(void *environment, const struct dispatch *state, void *group)

static const int32_t steps[2] = {10, 20};
const int32_t *const step = steps;
static uint32_t calls;

KERNEL(scale) {  /* out[i] = 3 * in[i], by as many bytes as there are numbers */
    const int8_t *in = state->binding[0];
    int8_t *out = state->binding[1];
    for (int i = 0; i < 64; i++) out[i] = (int8_t)(3 * in[i]);
    return 0;
}

KERNEL(floats) {  /* out[i] = 1.5 * in[i] + 0.25 */
    const float *in = state->binding[0];
    float *out = state->binding[1];
    for (int i = 0; i < 16; i++) out[i] = 1.5f * in[i] + 0.25f;
    return 0;
}

KERNEL(clear) {
    memset(state->binding[0], 7, 150);
    return 0;
}

KERNEL(count) {  /* variables and constants behind pointers live on between calls */
    uint32_t *out = state->binding[0];
    out[0] = ++calls;
    out[1] = (uint32_t)step[1];
    out[2] = state->bindings;
    out[3] = (uint32_t)(state->constant == 0) + (uint32_t)(state->length == 0);
    return 0;
}

KERNEL(endless) {
    for (volatile int i = 0;; i++) {}
}

KERNEL(wild) {
    *(volatile int *)0x10 = 3;
    return 0;
}

KERNEL(host_memory) {
    return *(volatile int *)0x7f0000000000;
}

KERNEL(overwrites_itself) {
    *(volatile int *)(uintptr_t)&overwrites_itself = 0;
    return 0;
}

KERNEL(runs_data) {
    return ((int (*)(void))state->binding[0])();
}

KERNEL(too_deep) {
    volatile char here[4096];
    here[0] = 1;
    return too_deep(environment, state, group) + here[0];
}

KERNEL(system_call) {
    __asm__ volatile("svc #0");
    return 0;
}

KERNEL(sleeps) {
    __asm__ volatile("wfi");
    return 0;
}

KERNEL(hypervisor) {
    __asm__ volatile("hvc #0");
    return 0;
}

KERNEL(masks_memory) {  /* switches address translation on */
    __asm__ volatile("mrs x9, sctlr_el1; orr x9, x9, #1; msr sctlr_el1, x9; isb" ::: "x9");
    return *(volatile int *)0x10;
}

KERNEL(undefined) {
    __asm__ volatile("udf #0");
    return 0;
}
"""
_IMPORTS = """
int puts(const char *);
int greets(void) { return puts("hello"); }
"""


@functools.cache
def compiled(source: str = SOURCE, machine: str = "aarch64") -> bytes:
    """A shared object of C text without a library."""
    with tempfile.TemporaryDirectory() as folder:
        text, output = Path(folder, "code.c"), Path(folder, "code.so")
        text.write_text(source)
        flags = ("-O1", "-shared", "-fPIC", "-nostdlib", "-ffreestanding", "-Wno-everything")
        target = ("-target", f"{machine}-linux-none")
        command = [sys.executable, "-m", "ziglang", "cc", *target, *flags, str(text)]
        subprocess.run([*command, "-o", str(output)], check=True, capture_output=True)
        return output.read_bytes()


def importing() -> bytes:
    """A shared object that needs a C library."""
    return compiled(_IMPORTS)


def multiply_and_scale(*, old: bool = False) -> Executable:
    """Products by the NPU, of which the board's own processor makes three times as much.

    `old` is the 1.x form.
    """
    plain = multiply()
    call = StartHost(function="scale", arguments=(OUTPUT, SCALED), sizes=(64, 64))
    area = Segment(address=OUTPUT, size=64, data=b"\x77" * 64 if old else None)
    return replace(
        plain,
        name="scaled",
        segments=(*plain.segments, area),
        bindings=(
            plain.bindings[0],
            Binding(number=1, address=SCALED, offset=0, size=64, write_only=True),
        ),
        actions=(*plain.actions, call, WaitHost()),
        host_code=compiled(),
        runtime_version=0 if old else plain.runtime_version,
        old_segments=old,
    )

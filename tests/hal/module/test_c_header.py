"""The C header describes the format: a program that knows nothing else reads a module."""

import subprocess
import sys
from pathlib import Path

import pytest

from assay.hal.module import c_header
from assay.hal.module.file import write_module
from assay.hal.module.records import INSTRUCTIONS, VERSION

from .drafts import everything

HEADER = Path(c_header.__file__).with_name("assay_module.h")
READER = r"""
#include "assay_module.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t data[1 << 20];
static uint16_t u16(size_t at) { uint16_t x; memcpy(&x, data + at, 2); return x; }
static uint32_t u32(size_t at) { uint32_t x; memcpy(&x, data + at, 4); return x; }
static int64_t i64(size_t at) { int64_t x; memcpy(&x, data + at, 8); return x; }
static size_t field(size_t table, int slot) {
    size_t vtable = table - (int32_t)u32(table);
    size_t entry = 4 + 2 * (size_t)slot;
    uint16_t offset = entry < u16(vtable) ? u16(vtable + entry) : 0;
    return offset ? table + offset : 0;
}
static size_t follow(size_t at) { return at + u32(at); }
static size_t vector(size_t table, int slot, uint32_t *count) {
    size_t at = field(table, slot);
    *count = at ? u32(follow(at)) : 0;
    return at ? follow(at) + 4 : 0;
}
static const char *text(size_t table, int slot) {
    return (const char *)data + follow(field(table, slot)) + 4;
}

int main(int argc, char **argv) {
    FILE *file = fopen(argv[argc - 1], "rb");
    fread(data, 1, sizeof data, file);
    if (memcmp(data + 8, ASSAY_IDENTIFIER, 4)) return 1;
    size_t root = follow(4);
    size_t version = field(root, ASSAY_MODULE_VERSION);
    printf("%s %d\n", text(root, ASSAY_MODULE_NAME), version ? (int)u32(version) : 0);
    uint32_t models, tensors, regions, items;
    size_t model = vector(root, ASSAY_MODULE_MODELS, &models);
    for (uint32_t m = 0; m < models; ++m, model += 4) {
        size_t here = follow(model);
        size_t tensor = vector(here, ASSAY_MODEL_TENSORS, &tensors);
        printf("model %s\n", text(here, ASSAY_MODEL_NAME));
        for (uint32_t t = 0; t < tensors; ++t, tensor += 4) {
            size_t size = field(follow(tensor), ASSAY_TENSOR_SIZE);
            size_t place = field(follow(tensor), ASSAY_TENSOR_PLACE);
            printf("%s %d %d\n", text(follow(tensor), ASSAY_TENSOR_NAME),
                   place ? (int)u32(place) : ASSAY_PLACE_PLANNED, size ? (int)i64(size) : 0);
        }
        size_t region = vector(here, ASSAY_MODEL_REGIONS, &regions);
        size_t item = vector(follow(region), ASSAY_REGION_INSTRUCTIONS, &items);
        for (uint32_t n = 0; n < items; ++n, item += 4) {
            int kind = data[field(follow(item), ASSAY_INSTRUCTION_KIND)];
            printf("%d%s\n", kind, kind == ASSAY_ACTION_WHILE ? " while" : "");
        }
    }
    return 0;
}
"""


def test_the_header_is_what_python_makes() -> None:
    assert HEADER.read_text() == c_header.c_header(), "run python -m tests.c_headers"


@pytest.mark.slow
def test_a_program_in_c_reads_a_module_by_it(tmp_path: Path) -> None:
    draft = everything()
    module = draft.module()
    (tmp_path / "m.assay").write_bytes(write_module(module, draft.segments))
    (tmp_path / "reader.c").write_text(READER)
    program = tmp_path / "reader"
    command = [sys.executable, "-m", "ziglang", "cc", "-Wall", "-Werror", "-I", str(HEADER.parent)]
    command += ["-Wno-unused-result", str(tmp_path / "reader.c"), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    expected = [f"everything {VERSION}"]
    for model in module.models:
        expected.append(f"model {model.name}")
        expected += [f"{each.name} {int(each.place)} {each.size}" for each in model.tensors]
        for item in model.regions[0].instructions:
            number = INSTRUCTIONS.index(type(item)) + 1
            expected.append(f"{number}{' while' if type(item).__name__ == 'While' else ''}")
    done = subprocess.run([program, tmp_path / "m.assay"], capture_output=True, text=True)
    assert done.stdout.splitlines() == expected

"""`assay prove`: what is proved, refuted or undecided, exit codes, JSON, bad input."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checks.mutation.campaign import KERNELS
from tests.compiler.verify.sources import BARRIER, without_barrier

from .conftest import Done

Assay = Callable[..., Done]
TILED = next(path.read_text() for path in KERNELS if path.stem == "tiled_matmul")
MIRROR = f"""\
#include <metal_stdlib>
using namespace metal;
//! [kernel.mirror]
//! threadgroup = 64
kernel void mirror(device float* y, constant uint& n, uint t [[thread_index_in_threadgroup]],
                   uint i [[thread_position_in_grid]]) {{
    threadgroup float s[64];
    s[t] = i;
    {BARRIER}
    if (i < n) y[i] = s[63 - t];
}}
"""
TWICE = """\
#include <metal_stdlib>
using namespace metal;
kernel void twice(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
    if (i >= n) return;
    x[i] *= 2;
}
"""
UNKNOWN = """\
#include <metal_stdlib>
using namespace metal;
kernel void scatter(device const uint* to, device uint* y, uint i [[thread_index_in_threadgroup]],
                    uint g [[thread_position_in_grid]]) {
    threadgroup uint s[256];
    s[(to[g] & 3) * 64 + (i & 63)] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[g] = s[(to[g] & 3) * 64 + (i & 63)];
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_kernel_is_proved_with_what_that_rests_on(assay: Assay, folder: Path) -> None:
    (folder / "tiled.metal").write_text(TILED)
    done = assay("prove", "tiled.metal", "--assume", "grid.x <= n")
    assert done.code == 0, done.err
    assert "proved:    all threads of a threadgroup come to the same barriers" in done.out
    assert "proved:    no two threads of a threadgroup race for its memory" in done.out
    assert "assumed:   threadgroups of 8x8 threads" in done.out
    assert done.out.endswith("1 kernel: 1 proved, 0 refuted, 0 undecided\n")


def test_a_missing_barrier_is_shown_by_a_run(assay: Assay, folder: Path) -> None:
    (folder / "mirror.metal").write_text(without_barrier(MIRROR, 0))
    done = assay("prove", "mirror.metal")
    assert done.code == 1
    assert "refuted:   no two threads of a threadgroup race for its memory" in done.out
    assert "[race-read-write]" in done.out
    assert f"put {BARRIER[:-1]} between the two" in done.out


def test_what_no_run_shows_is_undecided(assay: Assay, folder: Path) -> None:
    (folder / "scatter.metal").write_text(UNKNOWN)
    done = assay("prove", "scatter.metal", "--threadgroup", "64")
    assert done.code == 0, done.out  # each thread has a column of its own
    done = assay("prove", "scatter.metal", "--threadgroup", "128")
    assert done.code == 1


def test_json_has_verdicts_and_counterexamples(assay: Assay, folder: Path) -> None:
    (folder / "mirror.metal").write_text(without_barrier(MIRROR, 0))
    done = assay("prove", "mirror.metal", "--json")
    (kernel,) = json.loads(done.out)["kernels"]
    verdicts = {each["property"]: each["verdict"] for each in kernel["properties"]}
    assert verdicts["barriers"] == "proved"
    assert verdicts["threadgroup races"] == "refuted"
    (races,) = (each for each in kernel["properties"] if each["property"] == "threadgroup races")
    example = races["counterexamples"][0]
    assert [thread["thread"] for thread in example["threads"]] != []
    assert {each["name"] for each in example["arguments"]} == {"n"}
    assert kernel["findings"][0]["check"] == "race"


def test_the_weakest_further_assumption_is_offered(assay: Assay, folder: Path) -> None:
    (folder / "tiled.metal").write_text(TILED)
    done = assay("prove", "tiled.metal")
    assert done.code == 1  # two rows of a grid that is wider than the matrix
    assert "it would be proved with: --assume 'grid.x <= n'" in done.out


@pytest.mark.parametrize(
    ("store", "offered"),
    [
        ("y[int(i) * n] = i;", "n >= 1"),
        ("if (n % 4 != 0 && i % 2 == 0) y[i / 2] = i; else y[i] = 1;", "n % 4 == 0"),
    ],
)
def test_no_more_is_offered_than_is_needed(
    assay: Assay, folder: Path, store: str, offered: str
) -> None:
    (folder / "apart.metal").write_text(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void apart(device float* y, constant int& n,"
        f" uint i [[thread_position_in_grid]]) {{ {store} }}\n"
    )
    done = assay("prove", "apart.metal", "--threadgroup", "64")
    assert done.code == 1
    assert f"it would be proved with: --assume '{offered}'" in done.out


def test_no_size_is_told_of_a_kernel_that_nothing_was_asked_about(
    assay: Assay, folder: Path
) -> None:
    (folder / "tiled.metal").write_text(TILED)
    done = assay("prove", "tiled.metal", "--assume", "unknown > 0", "--json")
    (kernel,) = json.loads(done.out)["kernels"]
    assert "unknown" in kernel["problem"]
    assert kernel["threadgroup"] is None


def test_buffers_of_stated_length_are_not_left(assay: Assay, folder: Path) -> None:
    (folder / "tiled.metal").write_text(TILED)
    options = ("--assume", "grid.x <= n and grid.y <= n and n % 8 == 0")
    lengths = [f"--buffer={name}=4*n*n" for name in "abc"]
    done = assay("prove", "tiled.metal", *options, *lengths)
    assert done.code == 0, done.out
    assert "tiled.metal:27: what is computed here does not wrap" in done.out


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("constant float (&c)[4]", "c[i]"),
        ("device const float (&c)[4]", "c[i]"),
        ("constant Four& c", "c.values[i]"),
    ],
)
def test_what_a_reference_is_to_is_not_left(
    assay: Assay, folder: Path, declared: str, read: str
) -> None:
    source = (
        "#include <metal_stdlib>\nstruct Four { float values[4]; };\n"
        f"kernel void k(device float* y, {declared}, uint i [[thread_position_in_grid]]) {{\n"
        f"    if (i < LAST) y[i] = {read};\n}}\n"
    )
    (folder / "four.metal").write_text(source)
    assert assay("prove", "four.metal", "-D", "LAST=4").code == 0
    done = assay("prove", "four.metal", "-D", "LAST=5")
    assert done.code == 1
    assert "four.metal:4:" in done.out and "at byte 16 of c, which has 16 bytes" in done.out


@pytest.mark.parametrize("length", ["0", "-4", "-4 * n - 4"])
def test_lengths_that_no_buffer_has_prove_nothing(assay: Assay, folder: Path, length: str) -> None:
    (folder / "twice.metal").write_text(TWICE)
    done = assay("prove", "twice.metal", "--buffer", f"x={length}")
    assert done.code == 2
    assert "undecided: no launch fulfils all that is assumed together" in done.out


def test_that_buffers_have_a_byte_is_told(assay: Assay, folder: Path) -> None:
    (folder / "twice.metal").write_text(TWICE)
    done = assay("prove", "twice.metal", "--buffer", "x=4*n")
    assert "assumed:   x has 4*n bytes, and one at least" in done.out


def test_a_length_of_what_is_no_argument_is_refused(assay: Assay, folder: Path) -> None:
    (folder / "twice.metal").write_text(TWICE)
    done = assay("prove", "twice.metal", "--buffer", "y=4*n")
    assert done.code == 2
    assert done.err == "error: --buffer y: there is no such argument; there are n, x\n"


def test_threadgroups_of_more_threads_than_there_may_be_prove_nothing(
    assay: Assay, folder: Path
) -> None:
    (folder / "twice.metal").write_text(TWICE)
    done = assay("prove", "twice.metal", "--threadgroup", "2000")
    assert done.code == 2
    assert "threadgroups of 2000 threads; 1024 are the most" in done.out


def test_an_access_behind_a_buffer_is_shown_by_a_run(assay: Assay, folder: Path) -> None:
    (folder / "twice.metal").write_text(TWICE)
    assert assay("prove", "twice.metal", "--buffer", "x=4*n").code == 0
    done = assay("prove", "twice.metal", "--buffer", "x=4*n-4")
    assert done.code == 1
    assert "refuted:   accesses stay within arrays" in done.out
    assert "twice.metal:5:" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.metal",), "there is no such file"),
        (("tiled.metal", "-f", "other"), "there is no kernel 'other'"),
        (("tiled.metal", "--threadgroup", "none"), "expected one to three positive numbers"),
        (("notes.txt",), "expected MSL source"),
        (("tiled.metal", "--buffer", "c"), "expected NAME=BYTES"),
        (("tiled.metal", "--buffer", "c=4", "--buffer", "c=8"), "its length is given twice"),
        (("tiled.metal", "-o", "tiled.metal"), "this would write over what is read"),
        (("tiled.metal", "--rings", "--chip", "m99"), "m99"),
        (("tiled.metal", "--json", "--format", "sarif"), "which one is meant?"),
        ((".",), "is a folder"),
        (("tiled.metal", "--args", "other.toml"), "there is no kernel 'other'"),
    ],
)
def test_bad_input_is_told(
    assay: Assay, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "tiled.metal").write_text(TILED)
    (folder / "notes.txt").write_text("")
    (folder / "other.toml").write_text("[kernel.other]\nthreadgroup = 32\n")
    done = assay("prove", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid.w <= n", "there is no integer argument 'grid.w'"),
        ("m <= n", "there is no integer argument 'm'"),
        ("n", "expected a comparison"),
        ("n % n == 0", "it may divide by positive numbers only"),
        ("n <", "expected an expression"),
    ],
)
def test_an_assumption_that_is_not_understood_leaves_all_undecided(
    assay: Assay, folder: Path, text: str, message: str
) -> None:
    (folder / "tiled.metal").write_text(TILED)
    done = assay("prove", "tiled.metal", "--assume", text)
    assert done.code == 2
    assert message in done.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("threadgruop = 32", "twice.metal:2: kernel.twice.threadgruop: unknown key"),
        ("arguments.n = { m = 3 }", "argument 'n'"),
    ],
)
def test_a_launch_that_is_not_understood_leaves_all_undecided(
    assay: Assay, folder: Path, line: str, message: str
) -> None:
    (folder / "twice.metal").write_text(f"//! [kernel.twice]\n//! {line}\n{TWICE}")
    done = assay("prove", "twice.metal")
    assert done.code == 2
    assert message in done.out and "refuted:" not in done.out


@pytest.mark.parametrize("length", ["4*n", "8*n", "n", "2*n", "4*n*n", "4*n + 2", "4*n*m"])
def test_a_length_that_only_its_buffer_tells_is_shown_at_its_smallest(
    assay: Assay, folder: Path, length: str
) -> None:
    (folder / "copy.metal").write_text(
        TWICE.replace("    if (i >= n) return;\n", "").replace("& n,", "& n, constant uint& m,")
    )
    done = assay("prove", "copy.metal", "--buffer", f"x={length}")
    assert done.code == 1, done.out
    assert "shown by a grid of 256 threads, n = 1, m = 1" in done.out


def test_the_run_that_shows_it_is_told(assay: Assay, folder: Path) -> None:
    (folder / "mirror.metal").write_text(without_barrier(MIRROR, 0))
    done = assay("prove", "mirror.metal", "--json")
    (kernel,) = json.loads(done.out)["kernels"]
    shown = {each["property"]: each["shown_by"] for each in kernel["properties"]}
    assert shown["barriers"] is None
    assert shown["threadgroup races"]["threads"] == [64, 1, 1]
    assert "n" in shown["threadgroup races"]["numbers"]


@pytest.mark.parametrize("name", ["größe 数.metal", 'a "b" \\c.metal'])
def test_files_may_have_any_name(assay: Assay, folder: Path, name: str) -> None:
    (folder / name).write_text(without_barrier(MIRROR, 0))
    done = assay("prove", name)
    assert f"\n{name}:" in done.out and " | " in done.out


def test_a_text_may_begin_with_a_mark_of_its_bytes(assay: Assay, folder: Path) -> None:
    (folder / "twice.metal").write_bytes(b"\xef\xbb\xbf" + TWICE.encode())
    done = assay("prove", "twice.metal")
    assert done.code == 0, done.out


def test_assumptions_stand_beside_the_kernel(assay: Assay, folder: Path) -> None:
    stated = TILED.replace("kernel void", "// assay: assume(grid.x <= n)\nkernel void")
    (folder / "tiled.metal").write_text(stated)
    done = assay("prove", "tiled.metal")
    assert done.code == 0, done.out
    assert "assumed:   grid.x <= n" in done.out


def test_an_assumption_in_a_comment_is_refused_with_its_line(assay: Assay, folder: Path) -> None:
    before, kernel = TILED.split("kernel void", 1)
    (folder / "tiled.metal").write_text(f"{before}// assay: assume(m == 1)\nkernel void{kernel}")
    line = before.count("\n") + 1
    done = assay("prove", "tiled.metal")
    assert done.code == 2
    assert f"tiled.metal:{line}: 'm == 1': there is no integer argument 'm'" in done.out


def test_sarif_has_what_is_refuted_and_what_is_undecided(assay: Assay, folder: Path) -> None:
    (folder / "mirror.metal").write_text(without_barrier(MIRROR, 0))
    done = assay("prove", "mirror.metal", "--format", "sarif", "--output", "proofs.sarif")
    assert done.code == 1
    assert "1 kernel: 0 proved, 1 refuted, 0 undecided" in done.out
    (run,) = json.loads((folder / "proofs.sarif").read_text())["runs"]
    assert "race-read-write" in {each["ruleId"] for each in run["results"]}
    done = assay("prove", "mirror.metal", "--format", "sarif", "--timeout", "0.001", "--no-cache")
    (run,) = json.loads(done.out)["runs"]
    texts = [
        each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]
    ]
    assert any("it takes longer than 0.001 s" in text for text in texts)


def test_sarif_has_what_a_proof_rests_on(assay: Assay, folder: Path) -> None:
    (folder / "apart.metal").write_text(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void apart(device float* y, uint i [[thread_position_in_grid]]) {\n"
        "    y[i * 65536] = i;\n}\n"
    )
    done = assay("prove", "apart.metal", "--format", "sarif")
    assert done.code == 0
    (run,) = json.loads(done.out)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"]
    notes = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert any("apart.metal:4: what is computed here does not wrap" in text for text in notes)
    assert any("all threadgroups are full" in text for text in notes)


def test_what_was_checked_is_proved(assay: Assay, folder: Path) -> None:
    (folder / "tiled.metal").write_text(TILED)
    done = assay("check", "tiled.metal", "--prove")
    assert done.code == 0, done.out
    assert "proved for this launch and any data: barriers, threadgroup races" in done.out
    (folder / "scatter.metal").write_text(UNKNOWN)
    done = assay("check", "scatter.metal", "--prove", "--timeout-per-kernel", "60")
    assert done.code != 0, done.out


def test_a_finding_of_other_data_is_said_to_be(assay: Assay, folder: Path) -> None:
    text = "//! [kernel.scatter]\n//! threadgroup = 128\n//! threads = 128\n"
    text += '//! arguments.to = { shape = [128], dtype = "uint32", fill = "iota" }\n'
    every = UNKNOWN.replace("(to[g] & 3) * 64 + (i & 63)", "to[g] & 255")
    (folder / "scatter.metal").write_text(text + every)
    assert assay("check", "scatter.metal").code == 0
    done = assay("check", "scatter.metal", "--prove")
    assert done.code == 1
    assert "was found in a run of this grid with other data in its buffers" in done.out


def test_a_module_is_proved_and_its_kernels_are_known(
    assay: Assay, folder: Path, module: Path
) -> None:
    done = assay("prove", str(module))
    assert "proved:    no two threads of a threadgroup race for its memory" in done.out
    assert "assumed:   groups.x == 1" in done.out
    done = assay("prove", str(module), "--function", "none")
    assert done.code == 2
    assert "it launches no kernel 'none'" in done.err
    done = assay("prove", str(module), "--assume", "grid.x == 1")
    assert done.code == 2
    assert "a module says itself how its kernels are launched" in done.err


def test_a_repair_is_shown_with_its_cost_and_not_applied(assay: Assay, folder: Path) -> None:
    source = without_barrier(MIRROR, 0)
    (folder / "mirror.metal").write_text(source)
    done = assay("prove", "mirror.metal", "--repair")
    assert done.code == 1
    assert "kernel 'mirror' would be proved with: insert a barrier" in done.out
    assert "cycles on m1" in done.out
    assert re.search(rf"(?m)^\+ +{re.escape(BARRIER)}", done.out)
    assert (folder / "mirror.metal").read_text() == source
    done = assay("prove", "mirror.metal", "--repair", "--json")
    (repair,) = json.loads(done.out)["repairs"]
    assert repair["kernel"] == "mirror"
    assert repair["cycles"]["after"] > repair["cycles"]["before"]


RING = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.ring]
//! threadgroup = 64
//! threads = 128
//! arguments.n = 8
kernel void ring(device const float* x, device float* y, constant uint& n,
                 uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup float tiles[3][64];
    float sum = 0;
    tiles[0][t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tiles[1][t] = x[64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; ++k) {
        tiles[(k + 2) % 3][t] = x[64 * (k + 2) + t];
        sum += tiles[k % 3][63 - t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[i] = sum;
}
"""


def test_what_redundant_barriers_cost_is_predicted_for_a_chip(assay: Assay, folder: Path) -> None:
    (folder / "ring.metal").write_text(RING)
    given = ("prove", "ring.metal", "--rings", "--assume", "n <= 1000000")
    data = json.loads(assay(*given, "--chip", "m4-max", "--json").out)
    first, second, in_loop = data["kernels"][0]["rings"]["barriers"]
    for each in (first, second):
        assert each["redundant"]
        assert each["gain"]["chip"] == "m4-max"
        assert each["gain"]["after"] < each["gain"]["before"]
    assert not in_loop["redundant"] and in_loop["gain"] is None
    hidden = RING.replace(f"{BARRIER}\n    tiles[1]", "SYNC;\n    tiles[1]")
    (folder / "ring.metal").write_text(f"#define SYNC {BARRIER}\n{hidden}")
    done = assay(*given, "--chip", "m4-max")
    assert done.code == 2
    assert "what it gains is not predicted: it does not stand as a statement" in done.out


def test_a_ring_whose_tiles_may_be_stale_or_lost_is_undecided(assay: Assay, folder: Path) -> None:
    given = ("prove", "ring.metal", "--assume", "n <= 1000000")
    guarded = re.sub(r"tiles\[\(k \+ 2\)", "if (k + 2 < n) tiles[(k + 2)", RING)
    guarded = re.sub(r"tiles\[([01])\]\[t\] =", r"if (\1 < n) tiles[\1][t] =", guarded)
    stale = guarded.replace("x[64 * (k + 2) + t]", "x[64 * (k + 1) + t]")
    for source, is_open in ((guarded, False), (RING, True), (stale, True)):
        (folder / "ring.metal").write_text(source)
        assert assay(*given).code == 0
        done = assay(*given, "--rings")
        assert done.code == (2 if is_open else 0)
        assert f"{int(is_open)} undecided" in done.out


def test_a_chip_is_one_that_there_is_and_for_rings(assay: Assay, folder: Path) -> None:
    (folder / "ring.metal").write_text(RING)
    assert (
        "--chip: it says what barriers cost, with --rings"
        in assay("prove", "ring.metal", "--chip", "m4-max").err
    )
    done = assay("prove", "ring.metal", "--rings", "--chip", "m99")
    assert done.code != 0 and "chip 'm99' is not known" in done.err


TURN = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.turn]
//! threadgroup = 32
kernel void turn(device float* x, uint t [[thread_index_in_threadgroup]],
                 uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    s[t] = x[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    float other = s[31 - t];
    s[t] = other;
    x[i] = s[t] + other;
}
"""


def test_lanes_are_taken_to_run_in_any_order_if_that_is_wanted(assay: Assay, folder: Path) -> None:
    (folder / "turn.metal").write_text(TURN)
    assert assay("prove", "turn.metal").code == 0
    done = assay("prove", "turn.metal", "--lanes")
    assert done.code == 1
    assert "only lock step orders two accesses to 's'" in done.out
    assert "lanes of a simdgroup run in any order" in done.out

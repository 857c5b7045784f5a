"""Kernels that are compiled in other processes before they are asked for."""

import threading
import time
from pathlib import Path

import pytest

from assay.compiler.msl import CompileError, ahead, compile_library
from assay.compiler.msl.ahead import Ahead, Expected
from assay.compiler.msl.opening import is_compiled


def kernel(number: int, body: str = "") -> Expected:
    source = (
        f"kernel void k{number}(device int* out, uint i [[thread_position_in_grid]]) "
        f"{{ out[i] = {number}; {body} }}"
    )
    return Expected(
        source=source,
        macros=(),
        fast_math=True,
        language_version=(3, 0),
        kernel=f"k{number}",
        threadgroup_size=(32, 1, 1),
    )


@pytest.fixture(autouse=True)
def two_cores_and_an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("ASSAY_WORKERS", "2")


def no_process(monkeypatch: pytest.MonkeyPatch) -> list[Expected]:
    """Let no process start; what would be compiled in this one."""
    made: list[Expected] = []
    monkeypatch.setattr(ahead._Process, "start", lambda _: None)
    monkeypatch.setattr(Expected, "make", lambda each: made.append(each))
    return made


def test_another_process_fills_the_cache() -> None:
    expected = [kernel(number) for number in range(7)]
    expected.insert(2, kernel(99, "this is no MSL;"))
    some = Ahead()
    for each in expected:
        some.expect(each)
    end = time.monotonic() + 120
    while some._waiting or some._running:
        assert time.monotonic() < end
        time.sleep(0.05)
    for each in expected:
        assert is_compiled(each.source, each.options) == (each.kernel != "k99")
    some.needed(expected[2].library)
    with pytest.raises(CompileError, match="this"):
        compile_library(expected[2].source, options=expected[2].options)


def test_what_a_process_that_ended_had_is_left_to_who_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "_CODE", "raise SystemExit")
    expected = [kernel(number) for number in range(6)]
    some = Ahead()
    for each in expected:
        some.expect(each)
    for each in expected:
        some.needed(each.library)
    assert not some._waiting
    assert not is_compiled(expected[0].source, expected[0].options)


def test_who_waits_for_another_process_compiles_what_nobody_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = no_process(monkeypatch)
    expected = [kernel(number) for number in range(4)]
    some = Ahead()
    for each in expected:
        some.expect(each)
    del some._waiting[expected[0]]
    some._running.add(expected[0])  # as if another process had it
    waiter = threading.Thread(target=some.needed, args=(expected[0].library,), daemon=True)
    waiter.start()
    end = time.monotonic() + 60
    while len(made) < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert waiter.is_alive(), "the first is still being compiled elsewhere"
    some._end(expected[0])
    waiter.join(60)
    assert not waiter.is_alive()
    assert made == expected[1:]


@pytest.mark.parametrize(("count", "workers"), [(5, "2"), (12, "1")])
def test_no_process_starts_for_few_kernels_or_on_one_core(
    count: int, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_WORKERS", workers)
    no_process(monkeypatch)
    some = Ahead()
    monkeypatch.setattr(some, "_feed", lambda: pytest.fail("a process was started"))
    for number in range(count):
        some.expect(kernel(number))
    assert some._processes == 0


def test_what_is_in_the_cache_is_not_expected() -> None:
    known = kernel(1)
    compile_library(known.source, options=known.options)
    some = Ahead()
    some.expect(known)
    assert not some._waiting

from dataclasses import replace

import pytest

from assay.hal.status import StatusError
from assay.hal.torq.check import check
from assay.hal.torq.format import (
    Action,
    Alloc,
    Binding,
    BufferType,
    Executable,
    HostCopy,
    Segment,
    StartHost,
    StartNss,
    WaitNss,
)
from assay.hw.torq.facts.hardware import hardware
from tests.support.torq_executables import multiply

COPY = next(action for action in multiply().actions if isinstance(action, HostCopy))


def with_actions(*actions: Action) -> Executable:
    return replace(multiply(), actions=actions)


def test_a_whole_executable_passes_and_knows_its_footprint() -> None:
    check(multiply())
    assert multiply().footprint() == (0x100000, 0x103000 + 640 + 640)
    assert replace(multiply(), segments=(), bindings=()).footprint() == (0, 0)


@pytest.mark.parametrize(
    ("executable", "message"),
    [
        (replace(multiply(), runtime_version=3), "runtime version 3; only 2 and the 1.x form"),
        (replace(multiply(), hw_id=9), "compiled for hardware id 9, and SL2610 has 0"),
        (
            replace(multiply(), segments=(Segment(address=0xFFFFFFF0, size=32, data=None),)),
            "segment 0 ends at 0x100000010, outside",
        ),
        (
            replace(multiply(), bindings=(Binding(number=0, address=9, offset=0, size=1 << 32),)),
            "binding 0 ends at",
        ),
        (
            replace(multiply(), bindings=(Binding(number=1 << 31, address=9, offset=0, size=1),)),
            "binding 0 is of buffer 2147483648; there are at most 4096",
        ),
        (
            replace(
                multiply(),
                bindings=(
                    Binding(number=0, address=0, offset=0, size=1, read_only=True, write_only=True),
                ),
            ),
            "binding 0 is both read-only and write-only",
        ),
        (with_actions(StartNss(address=2)), "action 0 starts at LRAM 0x2; a multiple of 4"),
        (with_actions(StartNss(address=0x80000)), "action 0 starts at LRAM 0x80000"),
        (with_actions(StartNss(address=0), StartNss(address=0)), "action 1 starts the NPU, which"),
        (with_actions(WaitNss()), "action 0 waits for the NPU, which no action has started"),
        (with_actions(replace(COPY, shape=(2,))), "shape of 1 dimensions with 0 and 0 strides"),
        (with_actions(replace(COPY, direction=2)), "copies in direction 2"),
        (with_actions(replace(COPY, target_address=0x7FF00)), "copies to LRAM 0x7ff00 to 0x80180"),
        (
            with_actions(replace(COPY, shape=(3,), source_strides=(1 << 31,), target_strides=(4,))),
            "copies from XRAM",
        ),
        (
            with_actions(Alloc(number=0, address=0x2000, size=1, buffer_type=BufferType.ITCM)),
            "allocates 1 bytes at ITCM 0x2000, outside of it",
        ),
        (
            with_actions(StartHost(function="softmax", arguments=())),
            "calls host function 'softmax', and there is no host code",
        ),
        (
            replace(
                with_actions(StartHost(function="f", arguments=(), ranks=(2,), shapes=(1,))),
                host_code=b"ELF",
            ),
            "ranks, shapes and strides of its arguments disagree",
        ),
    ],
)
def test_what_the_npu_cannot_run_is_refused_by_place(executable: Executable, message: str) -> None:
    with pytest.raises(StatusError, match=message):
        check(executable)


def test_other_hardware_takes_other_executables() -> None:
    check(replace(multiply(), hw_id=9), hardware("9:512:2:coral_v1:nss_v1"))
    with pytest.raises(StatusError, match=r"starts at LRAM 0x8000; .* below 0x8000"):
        check(with_actions(StartNss(address=0x8000)), hardware("32:1:coral_v1:nss_v1"))

from fractions import Fraction

import pytest

from assay.hw.facts import SpecError, parse
from assay.hw.torq.facts import machine, modes
from assay.hw.torq.facts.hardware import HardwareError, hardware, names
from assay.hw.torq.facts.machine import agents, limit, limits, memories
from assay.hw.torq.facts.manual import page


def test_the_default_hardware_is_the_sl2610() -> None:
    npu = hardware()
    assert (npu.name, npu.hw_id, npu.lram, npu.slices) == ("SL2610", 0, 0x80000, 2)
    assert (npu.css, npu.nss) == ("coral_v1", "nss_v1")
    assert npu.dma_factor == Fraction(65, 100)
    assert names() == ("SL2610",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512:1:coral_v1:nss_v1", (0, 0x80000, 1, "coral_v1", 8, 1)),
        ("0:512:2:coral_v2:nss_v2", (0, 0x80000, 2, "coral_v2", 8, 1)),
        ("0x10:256:1:coral_v1:nss_v1:16", (16, 0x40000, 1, "coral_v1", 16, 1)),
        ("--torq-hw=7:128:2:coral_v1:nss_v1:8:0.65", (7, 0x20000, 2, "coral_v1", 8, 0.65)),
        (
            "0:512:2:coral_v1:nss_v1:8:0.5:aarch64-unknown-linux-gnu:generic:+neon",
            (0, 0x80000, 2, "coral_v1", 8, 0.5),
        ),
    ],
)
def test_custom_hardware_is_read_with_and_without_an_id(
    text: str, expected: tuple[int, int, int, str, int, float]
) -> None:
    npu = hardware(text)
    assert (npu.hw_id, npu.lram, npu.slices, npu.css) == expected[:4]
    assert npu.dma_bytes_per_cycle == expected[4]
    assert npu.dma_factor == Fraction(str(expected[5]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SL9999", "hardware 'SL9999' is not known; there are SL2610, or custom"),
        ("", "hardware '' is not known"),
        ("512:2", "has 2 fields; expected a profile"),
        ("0:512:2:coral_v1:nss_v1:8:1:a:b:c:d", "has 11 fields"),
        ("0:big:2:coral_v1:nss_v1", "LRAM size in KiB 'big' is not a whole number"),
        ("0:0:2:coral_v1:nss_v1", "LRAM size in KiB is 0; 1 to 16384"),
        ("512:3:coral_v1:nss_v1", "slice count is 3; 1 to 2"),
        ("1_024:2:coral_v1:nss_v1", "LRAM size in KiB '1_024' is not a whole number"),
        ("+512:2:coral_v1:nss_v1", "LRAM size in KiB '.512' is not a whole number"),
        ("512 :2:coral_v1:nss_v1", "LRAM size in KiB '512 ' is not a whole number"),
        ("0:512:0x3:coral_v1:nss_v1", "slice count is 3; 1 to 2"),
        ("x:512:2:coral_v1:nss_v1", "hw_id 'x' is not a whole number"),
        ("512:2:coral_v9:nss_v1", "CSS configuration 'coral_v9' is not known; there are coral_v1"),
        ("512:2:coral_v1:nss_v9", "NSS configuration 'nss_v9' is not known; there are nss_v1"),
        ("512:2:coral_v1:nss_v1:0", "DMA bytes per cycle is 0; it must be more than 0"),
        ("512:2:coral_v1:nss_v1:8:1e99999999", "DMA factor '1e99999999' is not a number"),
    ],
)
def test_a_line_that_describes_no_hardware_is_refused(text: str, message: str) -> None:
    with pytest.raises(HardwareError, match=message):
        hardware(text)


def test_every_number_has_a_source() -> None:
    assert all(entry.source in machine.file().sources for entry in limits().values())
    assert limit("data_bus") == 72
    assert memories()["DTCM"].host == 0x1D0000
    assert all(modes.modes(group).source for group in modes.GROUPS)
    with pytest.raises(SpecError, match="no limit 'speed'; there are xram_address"):
        limit("speed")


def test_every_agent_that_can_be_encoded_is_described() -> None:
    from assay.hw.torq.words.encode.dma import DMA_AGENTS
    from assay.hw.torq.words.encode.registers import REGISTER_AGENTS
    from assay.hw.torq.words.encode.slice import MEMORY_AGENTS

    described = {name for name, agent in agents().items() if agent.kind != "software"}
    assert described == {*MEMORY_AGENTS, *DMA_AGENTS, *REGISTER_AGENTS} - {"ALPR", "ALPW"}


def test_a_mode_without_a_source_is_refused() -> None:
    with pytest.raises(SpecError, match=r"x\.toml: alu_op0\.source must be non-empty"):
        modes.group_of(
            parse("x.toml", '[sources]\nbook = "A book"\n[alu_op0]\n[alu_op0.modes]'), "alu_op0"
        )


def test_the_reference_page_is_current(pytestconfig: pytest.Config) -> None:
    stored = pytestconfig.rootpath / "docs" / "reference" / "torq.md"
    assert stored.read_text(encoding="utf-8") == page()

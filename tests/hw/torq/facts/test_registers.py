import pytest

from assay.hw.facts import SpecError, parse
from assay.hw.torq.facts.registers import Image, blocks, blocks_of, registers, spaces

SOURCED = '[sources]\nbook = "A book"\n[blocks.X]\nspace = "nss"\nwhat = "x"\n'
TRUSTED = 'source = "book"\nconfidence = "high"\n'


def test_fields_are_where_the_tables_of_the_hardware_put_them() -> None:
    field = registers("slice").field("DE_D_R.w_step")
    assert (field.address, field.high, field.low) == (0x018, 5, 0)
    assert registers("slice").address("TBL_MEM[511].slope") == 0x9FC
    assert registers("nss").address("DMA_XW.DST.DIMS[2].DIM_STRIDE.s") == 0x158
    assert registers("cdma").address("CDMA.CH0_CMD.enablecmd") == 0x1000
    assert spaces()["css"].views["stream"] == 0xC000


def test_every_word_of_a_slice_is_known_and_no_bit_belongs_to_two_fields() -> None:
    known = registers("slice")
    assert all(address in known for address in [*range(0, 0xB8, 4), *range(0x200, 0xA00, 4)])
    assert all(block.source and block.confidence for block in blocks())


def test_a_field_refuses_what_it_cannot_hold_and_wraps_on_request() -> None:
    image = Image(registers("slice"))
    image["DE_D_R.w_size"] = 66
    image["DE_D_R.xmask_en"] = 1
    image["DE_D_R.x_init"] = -3
    assert image.words[0x004] == 0xC2000000
    assert (image["DE_D_R.x_init"], image.signed("DE_D_R.x_init")) == (13, -3)
    image.wrap("DE_D_R.w_step", 64)
    assert image["DE_D_R.w_step"] == 0
    with pytest.raises(ValueError, match=r"DE_D_R\.w_step has 6 bits .* cannot hold 64"):
        image["DE_D_R.w_step"] = 64


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"no field DE_D_R\.wstep; near: DE_D_R\.w_step"):
        registers("slice").field("DE_D_R.wstep")
    with pytest.raises(SpecError, match="no space 'gpu'; there are nss, css"):
        registers("gpu")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('words = [{ at = 0, fields = "a[0]" }]', r"blocks\.X\.source must be non-empty"),
        (
            'source = "hearsay"\nconfidence = "high"\nwords = [{ at = 0, fields = "a[0]" }]',
            "source is 'hearsay'",
        ),
        (
            'source = "book"\nconfidence = "sure"\nwords = [{ at = 0, fields = "a[0]" }]',
            "confidence is 'sure'",
        ),
        (TRUSTED + 'words = [{ at = 0, fields = "a[32]" }]', "not within 31:0"),
        (TRUSTED + 'words = [{ at = 0, fields = "a" }]', r"not name\[high:low\]"),
        (TRUSTED + 'words = [{ at = 0, fields = "a[4:0], b[4]" }]', r"X\.b is there twice"),
        (TRUSTED + 'words = [{ at = "0", fields = "a[4:0]" }]', "must be a whole number"),
        (TRUSTED + "words = []", "must be a list of words"),
    ],
)
def test_a_register_without_source_or_with_a_wrong_field_is_refused(
    entry: str, message: str
) -> None:
    with pytest.raises(SpecError, match=rf"x\.toml.*{message}"):
        blocks_of(parse("x.toml", SOURCED + entry))

"""Bugs after public reports are found at the marked line; their twins are found clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.chosen import chosen, slow_unless

from .pairs import complaints, findings, kinds, marks, name, pairs
from .pending import ALARMS, MISSED

PAIRS = pairs()
QUICK = chosen({path: kinds(path) for path in PAIRS}, 12)


@pytest.fixture(autouse=True)
def little_fuel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that never ends is stopped soon."""
    monkeypatch.setenv("ASSAY_FUEL", str(2**22))


def _parameters(pending: dict[str, str]) -> list[object]:
    return [
        pytest.param(
            path, id=name(path), marks=[*_marks(name(path), pending), *slow_unless(path in QUICK)]
        )
        for path in PAIRS
    ]


def _marks(pair: str, pending: dict[str, str]) -> list[pytest.MarkDecorator]:
    if pair not in pending:
        return []
    return [pytest.mark.xfail(strict=True, raises=AssertionError, reason=pending[pair])]


@pytest.mark.parametrize("path", _parameters(MISSED))
def test_the_bug_is_found_at_its_line(path: Path, tmp_path: Path) -> None:
    wrong = complaints(path, findings(path, tmp_path, fixed=False))
    assert not wrong, "\n".join([f"{path}:", *wrong])


@pytest.mark.parametrize("path", _parameters(ALARMS))
def test_nothing_is_found_in_the_corrected_twin(path: Path, tmp_path: Path) -> None:
    found = findings(path, tmp_path, fixed=True)
    assert not found, "\n".join([f"{path}:", *(f.text for f in found)])


def test_every_pair_has_a_source_and_a_marked_line() -> None:
    for path in PAIRS:
        text = path.read_text()
        assert "Source: " in "".join(text.splitlines(keepends=True)[:3]), path
        assert "FIXED" in text, path
        assert any(word == "BUG" for word, _ in marks(path).values()), path


def test_pending_pairs_exist() -> None:
    assert {*MISSED, *ALARMS} <= {name(path) for path in PAIRS}

"""The reference page says what is declared."""

import pytest

from assay.traces.manual import page


def test_the_reference_of_traces_is_current(pytestconfig: pytest.Config) -> None:
    stored = pytestconfig.rootpath / "docs" / "reference" / "traces.md"
    assert stored.read_text() == page() + "\n", (
        "run: python -m assay.traces.manual > docs/reference/traces.md"
    )

"""Which of IREE's tools run: none where a model that was compiled before is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.compiler.models import tools


def tool_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tools that run from now on, one for each run."""
    seen: list[str] = []
    plain: Callable[..., object] = tools.run

    def counted(command: list[str], *, name: str) -> object:
        seen.append(name)
        return plain(command, name=name)

    monkeypatch.setattr(tools, "run", counted)
    return seen

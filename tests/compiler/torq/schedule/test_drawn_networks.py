"""Networks of any operators, shapes, inputs and outputs are exact, free of hazards, within LRAM."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.compiler.graph import models
from tests.models.mlir.drawn import graph
from tests.models.tflite.drawn import network

from .running import assert_file_is_exact_and_clean

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

_PARTS = 16
# `python -m tests.campaigns drawn-networks` draws 10,000.
_cases = int(os.environ.get("ASSAY_NETWORK_CASES", "48"))
_quick = settings(max_examples=3, suppress_health_check=list(HealthCheck), derandomize=True)
_many = settings(_quick, derandomize=False, database=None, max_examples=-(-_cases // _PARTS))


def _agrees(data: st.DataObject, folder: Path, operators: int) -> None:
    path = folder / "drawn.tflite"
    path.write_bytes(network(lambda many: data.draw(st.integers(0, many - 1)), operators))
    assert_file_is_exact_and_clean(path)


@_quick
@given(data=st.data())
def test_a_drawn_network_is_exact_and_clean(folder: Path, data: st.DataObject) -> None:
    _agrees(data, folder, 8)


def _graph_agrees(data: st.DataObject, folder: Path, operators: int) -> None:
    path = folder / "drawn.mlir"
    path.write_text(graph(lambda many: data.draw(st.integers(0, many - 1)), operators))
    assert_file_is_exact_and_clean(path)


@_quick
@given(data=st.data())
def test_a_drawn_graph_of_all_types_is_exact_and_clean(folder: Path, data: st.DataObject) -> None:
    _graph_agrees(data, folder, 8)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_many_drawn_graphs_of_all_types_are_exact_and_clean(folder: Path, part: int) -> None:
    @seed(part)
    @_many
    @given(data=st.data(), operators=st.integers(10, 40))
    def agree(data: st.DataObject, operators: int) -> None:
        _graph_agrees(data, folder, operators)

    agree()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_many_drawn_networks_are_exact_and_clean(folder: Path, part: int) -> None:
    @seed(part)
    @_many
    @given(data=st.data(), operators=st.integers(10, 40))
    def agree(data: st.DataObject, operators: int) -> None:
        _agrees(data, folder, operators)

    agree()

"""The lane-vector engine and the reference engine give the same bits for random kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.property.graph_kernels import OUTPUTS, graph_kernels
from tests.support.kernels import assemble, on_reference

def test_smoke():
    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(graph_kernels())
    def go(text):
        k=assemble(text,"in out")
        on_reference(k,[np.arange(40,dtype=np.int32),np.zeros((40,OUTPUTS),np.int32)],threadgroup_size=(40,1,1))
    go()

"""The data words that a task has are counted in Python as the compiled interpreter counts them."""

import ctypes

import numpy as np

from assay.hw.torq.datapath import layout as at
from assay.hw.torq.datapath.feed import steps_of_word, words_of_row
from assay.hw.torq.datapath.run import load_slice


def test_words_of_a_row_and_their_steps_are_those_of_the_interpreter() -> None:
    code = load_slice()
    words = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address("words_of_row"))
    steps = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(
        code.address("steps_of_word")
    )
    rng = np.random.default_rng(0)
    for _ in range(500):
        p = np.zeros(at.SIZE, np.int64)
        p[at.PARITIES], p[at.COLUMN_GROUPS] = rng.integers(1, 3), rng.integers(1, 5)
        p[at.COLUMN_BREAK] = rng.integers(0, 2)
        p[at.STEPS] = rng.integers(3, 6)
        p[at.BREAK_EVEN], p[at.BREAK_ODD] = rng.integers(0, 3, 2)
        count = words_of_row(p)
        assert count == words(p.ctypes.data)
        for k in range(count):
            assert steps_of_word(p, k) == steps(p.ctypes.data, k)

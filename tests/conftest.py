"""Settings of all tests: the IR is verified behind every pass, and examples repeat.

Of tests that are `sampled` half of the cases are slow, or all but one in so many as it says. Slow
tests that `.ci/run` makes are marked `ci`. Property tests try the same examples in every run;
`pytest --hypothesis-profile=explore --hypothesis-seed=N` draws others.
"""

import gc
import zlib

import pytest
from hypothesis import HealthCheck, settings

from assay.sim.simt.ir.passes import check_behind_passes
from assay.sim.simt.ir.verify import verify
from tests.campaigns import IN_CI, LONGEST, is_among

check_behind_passes(verify)

settings.register_profile(
    "repeatable",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)  # before the slow tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first, and mark what is slow of large sets and what of it is for CI, by name.

    Of a large set all but one in two cases, or in as many as is said, are slow.
    """
    items.sort(key=lambda item: not is_among(item.path, LONGEST))
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            (one_in,) = sampled.args or (2,)
            if zlib.crc32(item.name.encode()) % one_in:
                item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and is_among(item.path, IN_CI):
            item.add_marker(pytest.mark.ci)


def pytest_collection_finish() -> None:
    """What was read for all tests stays to the end: collections of garbage need not look at it."""
    gc.freeze()

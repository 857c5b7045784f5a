"""Settings of all tests: the IR is verified behind every pass, and examples repeat.

Of tests that are `sampled` half of the cases are slow. Property tests try the same examples in
every run; `pytest --hypothesis-profile=explore --hypothesis-seed=N` draws others.
"""

import zlib

import pytest
from hypothesis import HealthCheck, settings

from assay.sim.simt.ir.passes import check_behind_passes
from assay.sim.simt.ir.verify import verify

check_behind_passes(verify)

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)  # before the slow tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every other case of the large sets as slow, by its name."""
    for item in items:
        if item.get_closest_marker("sampled") and zlib.crc32(item.name.encode()) & 1:
            item.add_marker(pytest.mark.slow)

"""Settings of all tests: the IR is verified behind every pass, and examples repeat.

Property tests try the same examples in every run;
`pytest --hypothesis-profile=explore --hypothesis-seed=N` draws others.
"""

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

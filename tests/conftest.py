"""Settings of property tests: the same examples in every run, others on request.

`pytest --hypothesis-profile=explore --hypothesis-seed=N` draws other examples.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")

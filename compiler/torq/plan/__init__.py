"""TorqPlan: a function's schedule, between TorqHL and TorqHW: what is done when."""

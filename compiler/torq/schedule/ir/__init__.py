"""Schedules as TorqPlan: written, read, checked, and the passes over them."""

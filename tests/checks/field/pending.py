"""Bugs that are not found yet, and twins in which something is found, each with the reason."""

MISSED: dict[str, str] = {}
ALARMS: dict[str, str] = {}

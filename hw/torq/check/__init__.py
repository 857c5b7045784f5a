"""Checks of programs for the NPU while they run: hazards, uninitialised data, misuse of units."""

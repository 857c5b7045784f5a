"""Predicts how long dispatches take while a program hands them to the emulated device."""

"""Operators as slice programs, one file per family."""

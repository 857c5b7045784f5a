"""Tests, sorted by the question they answer."""

"""Seeded fuzzers: damaged input must end in a clear error."""

"""Clang: run with limits, its headers precompiled, its diagnostics in the user's words."""

"""Assay modules: one file with a model for several input shapes and devices, and what runs it."""

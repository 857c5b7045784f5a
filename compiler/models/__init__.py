"""Models in, IREE modules for Metal out."""

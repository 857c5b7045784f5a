"""Building Assay modules from model files."""

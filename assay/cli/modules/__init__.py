"""The commands for Assay modules."""

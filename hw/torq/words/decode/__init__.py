"""From words back to abstract commands."""

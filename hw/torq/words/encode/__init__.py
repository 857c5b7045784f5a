"""From abstract commands to words."""

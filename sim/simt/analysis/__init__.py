"""What can be known of a kernel before it runs, and rewrites that follow from it."""

"""What operators compute, in NumPy on whole arrays: exact for integers."""

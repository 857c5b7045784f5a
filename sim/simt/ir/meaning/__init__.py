"""What operations mean, slowly and obviously, on bit patterns held in Python integers."""

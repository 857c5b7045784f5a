"""Events: kinds and causes declared once, recording, finished traces, statistics, comparison."""

"""Models that Assay builds by itself: nothing is downloaded, every run has the same weights."""

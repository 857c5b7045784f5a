"""`assay metal`, in the place of `xcrun metal` and `metallib`."""

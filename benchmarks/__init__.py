"""Measures Assay together with its peers, in one run on one machine; never part of the tests."""

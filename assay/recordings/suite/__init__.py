"""Small kernels about which devices may differ, to be recorded on a Mac with one command:

assay record -m -o suite.assay-recording assay.recordings.suite
"""

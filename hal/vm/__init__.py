"""IREE's virtual machine: runs the host program of a .vmfb module."""

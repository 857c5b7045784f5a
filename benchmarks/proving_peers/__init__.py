"""Kernels of the kinds that GPUVerify and Faial are tried on, and what each tool answers."""

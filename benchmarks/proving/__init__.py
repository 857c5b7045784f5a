"""Public kernels, proved under what their hosts see to, and counted."""

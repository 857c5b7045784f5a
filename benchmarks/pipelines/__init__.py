"""A published design note on pipelines of FP4 products, recomputed and predicted.

The note's sentences that can be tested are data (`claims`, `advice.py`); what the model says of
its kernels is in `predicted.json`; `page.py` writes the documentation's page from both.
"""

"""`assay foundry`: kernels of the library, and language models made of them."""

from .kernels import foundry_app

__all__ = ["foundry_app"]

"""How programs come to be."""

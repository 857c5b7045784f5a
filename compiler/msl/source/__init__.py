"""MSL as text: tokens, declarations, attributes, and the files it may see."""

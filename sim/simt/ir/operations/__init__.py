"""The table of operations: each is declared once, in a row that says all that passes ask about."""

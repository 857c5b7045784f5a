"""Taking events while something runs, and the file that a recorder leaves behind."""

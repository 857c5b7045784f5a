"""Lets `python -m assay` do what `assay` does."""

from .cli import main

if __name__ == "__main__":
    main()

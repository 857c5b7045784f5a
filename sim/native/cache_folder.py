"""Where compiled results are kept between runs."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Where entries live; `ASSAY_CACHE_DIR` moves it."""
    chosen = os.environ.get("ASSAY_CACHE_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("assay"))

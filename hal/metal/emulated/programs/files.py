"""Files that programs name in the ways of Cocoa."""

from pathlib import Path
from urllib.parse import unquote, urlparse


def path_of(url: object) -> Path:
    """The file of an NSURL, a `file:` URL or a path."""
    path = getattr(url, "path", None)
    text = str(path() if callable(path) else url)
    parsed = urlparse(text)
    return Path(unquote(parsed.path) if parsed.scheme == "file" else text)

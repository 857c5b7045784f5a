"""Files that programs name in the ways of Cocoa."""

import sys
from pathlib import Path
from urllib.parse import unquote, urlparse


def path_of(url: object) -> Path:
    """The file of an NSURL, a `file:` URL or a path."""
    path = getattr(url, "path", None)
    text = str(path() if callable(path) else url)
    parsed = urlparse(text)
    return Path(unquote(parsed.path) if parsed.scheme == "file" else text)


def default_library() -> Path:
    """Where a program's own `default.metallib` would lie: in its bundle, or beside its script."""
    bundles = getattr(sys.modules.get("Foundation"), "NSBundle", None)
    if bundles is not None:
        found = bundles.mainBundle().pathForResource_ofType_("default", "metallib")
        if found is not None:
            return Path(str(found))
    return Path(sys.argv[0] or "-").resolve().parent / "default.metallib"

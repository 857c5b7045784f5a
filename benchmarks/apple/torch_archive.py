"""PyTorch's files `.metal`, out of the archive of its source that Debian keeps."""

from __future__ import annotations

import hashlib
import tarfile
import urllib.request
from pathlib import Path, PurePosixPath

URL = "http://deb.debian.org/debian/pool/main/p/pytorch/pytorch_2.6.0+dfsg.orig.tar.xz"
SHA256 = "099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff"
NAME = "torch2.6-sources"
KERNELS = "aten/src/ATen/native/mps/kernels"


def fetched(folder: Path, url: str = URL, sha256: str = SHA256) -> Path:
    """The folder with the files, fetched if the archive is not in `folder` yet.

    Raises:
        OSError: if the archive is not to be had, or is another than is known.
    """
    archive = folder / "archives" / "pytorch-2.6.0.tar.xz"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(url) as response:
            archive.write_bytes(response.read())
    if hashlib.sha256(archive.read_bytes()).hexdigest() != sha256:
        archive.unlink()
        raise OSError(f"{url} is not the archive that is known: its SHA-256 is another")
    into = folder / "sources" / "torch2.6"
    into.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as found:
        for member in found:
            path = PurePosixPath(member.name)
            data = found.extractfile(member) if path.suffix == ".metal" else None
            if data is not None and str(path.parent).endswith(KERNELS):
                (into / path.name).write_bytes(data.read())
    return into

"""Settings for tests with generated inputs."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Generated kernels are compiled once and thrown away; other tests use the usual cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield

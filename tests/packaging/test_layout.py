"""What the build takes is what the folders hold."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINKED = ("traces", "sim", "hw", "compiler", "hal")


def packages_on_disk() -> set[str]:
    """Every folder with an `__init__.py`, under the name it is imported by."""
    found = set()
    for top in (*LINKED, "assay"):
        for path in (ROOT / top).rglob("__init__.py"):
            parts = path.parent.relative_to(ROOT).parts
            if parts[0] == "assay" and len(parts) > 1 and parts[1] in LINKED:
                continue
            found.add(".".join(parts if parts[0] == "assay" else ("assay", *parts)))
    return found


def test_every_package_is_listed_in_the_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_every_layer_is_mapped_to_its_folder() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["package-dir"] == {f"assay.{x}": x for x in LINKED}


def test_links_point_at_the_folders() -> None:
    for name in LINKED:
        link = ROOT / "assay" / name
        assert link.is_symlink(), f"assay/{name} is no symlink"
        assert link.resolve() == ROOT / name


def test_the_version_is_the_same_everywhere() -> None:
    import assay

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["version"] == assay.__version__
    assert f"## {assay.__version__}" in (ROOT / "CHANGELOG.md").read_text()

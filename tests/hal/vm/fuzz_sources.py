"""The modules that are damaged: small, and between them using most of what modules can do."""

from pathlib import Path

from .doubles import compiled

MODELS = Path(__file__).parents[2] / "models" / "mlir"
NAMES = ("mlp", "while_data", "dynamic_softmax", "globals", "constants", "scalars")


def sources() -> dict[str, bytes]:
    """Compiled modules by name."""
    return {name: compiled((MODELS / f"{name}.mlir").read_text()) for name in NAMES}

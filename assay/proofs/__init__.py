"""Proofs for people: kernels of a source, their launches, and counterexamples that were run."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
    from .api import NotProved, Proofs, prove
    from .modules import prove_module
    from .observed import launches_kept, prove_launches
    from .options import ProofOptions
    from .processes import prove_source
    from .proof import KernelProof

__all__ = [
    "KernelProof",
    "NotProved",
    "ProofOptions",
    "Proofs",
    "launches_kept",
    "prove",
    "prove_launches",
    "prove_module",
    "prove_source",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "KernelProof": ".proof",
        "NotProved": ".api",
        "ProofOptions": ".options",
        "Proofs": ".api",
        "launches_kept": ".observed",
        "prove": ".api",
        "prove_launches": ".observed",
        "prove_module": ".modules",
        "prove_source": ".processes",
    },
)

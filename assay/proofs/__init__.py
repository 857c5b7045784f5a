"""Proofs for people: kernels of a source, their launches, and counterexamples that were run."""

from .options import ProofOptions
from .processes import prove_source
from .proof import KernelProof

__all__ = ["KernelProof", "ProofOptions", "prove_source"]

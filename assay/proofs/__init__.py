"""Proofs for people: kernels of a source, their launches, and counterexamples that were run."""

from .proof import KernelProof
from .source import ProofOptions, prove_source

__all__ = ["KernelProof", "ProofOptions", "prove_source"]

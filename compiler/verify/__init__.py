"""Proofs about kernels for all sizes: two threads stand for all, loops by induction, z3 decides."""

from .answers import Actor, Answer, Counterexample, Obstacle, Verdict
from .prove import prove

__all__ = ["Actor", "Answer", "Counterexample", "Obstacle", "Verdict", "prove"]

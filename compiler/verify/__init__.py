"""Proofs about kernels for all sizes: two threads stand for all, loops by induction, z3 decides."""

from .answers import Actor, Answer, Counterexample, Obstacle, Verdict
from .assumptions import AssumptionError, Names, Scalar
from .prove import PROPERTIES, Launch, prove

__all__ = [
    "PROPERTIES",
    "Actor",
    "Answer",
    "AssumptionError",
    "Counterexample",
    "Launch",
    "Names",
    "Obstacle",
    "Scalar",
    "Verdict",
    "prove",
]

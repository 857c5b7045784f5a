"""Proofs about kernels for all sizes: two threads stand for all, loops by induction, z3 decides."""

from .answers import Actor, Answer, Counterexample, Obstacle, Verdict
from .assumed.assumptions import AssumptionError, Names, Scalar
from .assumed.contents import Contents
from .assumed.launch import Launch
from .kernel import written_arguments
from .memory.pointers import Place, Pointers
from .prove import PROPERTIES, TOGETHER, prove
from .study import Effort
from .version import own_version

__all__ = [
    "PROPERTIES",
    "TOGETHER",
    "Actor",
    "Answer",
    "AssumptionError",
    "Contents",
    "Counterexample",
    "Effort",
    "Launch",
    "Names",
    "Obstacle",
    "Place",
    "Pointers",
    "Scalar",
    "Verdict",
    "own_version",
    "prove",
    "written_arguments",
]

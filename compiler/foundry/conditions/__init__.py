"""Variants of a kernel, chosen by conditions on values that are known when it is dispatched."""

from .choice import Conditional, Variant
from .predicate import Predicate
from .variables import Domain, domain_of

__all__ = ["Conditional", "Domain", "Predicate", "Variant", "domain_of"]

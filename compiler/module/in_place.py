"""Which of its inputs a kernel may write its result over.

One that computes each element from the elements at the same place reads every element before it
writes there. It must compute something, too: what IREE can see to be its input is a copy, and
copies within one place are not defined.
"""

from __future__ import annotations

from ..graph.symbolic.graph import Graph
from .groups import Group
from .kinds import COMPUTED, OF_TWO, WITHIN_PLACE


def overwritable(graph: Graph, group: Group) -> tuple[str, ...]:
    """The computed tensors, of the result's shape and size of elements, that it may write over."""
    if group.gives or not all(op.node.op_type in WITHIN_PLACE for op in group.operators):
        return ()
    computed = [name for name in group.inputs if name in graph.tensors]
    if not any(op.node.op_type in COMPUTED for op in group.operators):
        operands = {name for op in group.operators for name in op.inputs}
        is_of_two = len(group.operators) == 1 and len(operands & set(computed)) == 2
        if not is_of_two or group.last.node.op_type not in OF_TWO:
            return ()
    (output,) = group.outputs
    made = graph.tensors[output]
    return tuple(
        name
        for name in computed
        if graph.tensors[name].dims == made.dims and graph.tensors[name].dtype == made.dtype
    )

"""Optional results that nobody reads, as old models have them (the mask of a Dropout).

ONNX's inference gives the results of an inference model no type where only training makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def leave_out_unread(onnx: Any, proto: Any) -> None:
    """Takes such results from the ends of a model's nodes; others keep their places."""
    read = set(_read(proto.graph))
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    for node in proto.graph.node:
        try:
            schema = onnx.defs.get_schema(node.op_type, opsets.get(node.domain, 1), node.domain)
        except onnx.defs.SchemaError:
            continue  # whoever reads the node refuses it by its name
        while len(node.output) > 1 and node.output[-1] not in read:
            at = min(len(node.output), len(schema.outputs)) - 1
            if schema.outputs[at].option != onnx.defs.OpSchema.FormalParameterOption.Optional:
                break
            del node.output[-1]


def _read(graph: Any) -> Iterator[str]:
    """What is read in a graph and in those inside its nodes."""
    yield from (value.name for value in graph.output)
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _read(inner)

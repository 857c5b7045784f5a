"""Networks that carry a state from step to step, unrolled."""

from __future__ import annotations

from .network import VALID, Network, Tensor


def lstm(seed: int = 8, steps: int = 8, inputs: int = 32, width: int = 64) -> bytes:
    """An LSTM cell of 16-bit activations, unrolled; all steps have the same weights."""
    net = Network(seed, "int16")
    x = net.input((1, steps, inputs), 0.0003, 0)
    hidden = net.input((1, width), 1 / 32768, 0)
    cell = net.input((1, width), 4 / 32768, 0)
    gates: list[Tensor | None] = [None] * 4
    for step in range(steps):
        now = net.reshape(net.slice(x, (0, step, 0), (1, 1, inputs)), (1, inputs))
        both = net.concatenation([now, hidden], 1)
        made = [net.fully_connected(both, width, like=gate) for gate in gates]
        gates = [*made]
        into, forget, out = (net.unary("LOGISTIC", gate) for gate in made[:3])
        new = net.binary("MUL", into, net.unary("TANH", made[3]))
        cell = net.binary("ADD", net.binary("MUL", forget, cell), new)
        hidden = net.binary("MUL", out, net.unary("TANH", cell))
    return net.finish(hidden, cell)


def mamba(
    seed: int = 9, steps: int = 8, width: int = 32, states: int = 8, kernel: int = 4
) -> bytes:
    """A layer like Mamba's: a short convolution over time, a gated scan with a state of 16 bits."""
    net = Network(seed, "int16")
    x = net.input((1, steps, width), 0.0003, 0)
    state = net.input((1, width, states), 4 / 32768, 0)
    inner, gate = (net.fully_connected(x, width) for _ in range(2))
    padded = net.pad(
        net.reshape(inner, (1, 1, steps, width)), [(0, 0), (0, 0), (kernel - 1, 0), (0, 0)]
    )
    inner = net.reshape(net.depthwise(padded, (1, kernel), padding=VALID), (1, steps, width))
    inner = _silu(net, inner)
    decay = net.unary("LOGISTIC", net.fully_connected(inner, width))
    entry, leave = (net.fully_connected(inner, states) for _ in range(2))
    results = []
    for step in range(steps):
        now, keep = (_column(net, part, step) for part in (inner, decay))
        row = net.slice(entry, (0, step, 0), (1, 1, states))
        state = net.binary("ADD", net.binary("MUL", state, keep), net.batch_matmul(now, row))
        read = _column(net, leave, step)
        results.append(net.reshape(net.batch_matmul(state, read), (1, 1, width)))
    y = net.binary("MUL", net.concatenation(results, 1), _silu(net, gate))
    return net.finish(net.fully_connected(y, width), state)


def _silu(net: Network, x: Tensor) -> Tensor:
    return net.binary("MUL", x, net.unary("LOGISTIC", x))


def _column(net: Network, x: Tensor, step: int) -> Tensor:
    """One step of (1, steps, n) as (1, n, 1)."""
    part = net.slice(x, (0, step, 0), (1, 1, x.shape[2]))
    return net.reshape(part, (1, x.shape[2], 1))

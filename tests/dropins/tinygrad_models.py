"""Two models of usual kinds; prints what tinygrad's default device computes for them.

Run as `python tinygrad_models.py FILE`: losses, outputs and gradients go to FILE.npz. Which device
it runs on is DEV's.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tinygrad import Context, Tensor, nn


class Block:
    """One layer of a transformer that looks back only: attention, then a perceptron."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.before_attention, self.before_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def __call__(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.queries_keys_values(self.before_attention(x))
        q, k, v = (
            part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in parts.chunk(3, dim=-1)
        )
        attended = q.scaled_dot_product_attention(k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.up(self.before_perceptron(x)).gelu())


class Transformer:
    """One block between an embedding and scores of the next token."""

    def __init__(self) -> None:
        self.tokens, self.places = nn.Embedding(50, 32), nn.Embedding(16, 32)
        self.blocks = [Block(32, 4)]
        self.norm, self.scores = nn.LayerNorm(32), nn.Linear(32, 50, bias=False)

    def __call__(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places(Tensor(np.arange(tokens.shape[1], dtype=np.int32)))
        return self.scores(self.norm(x.sequential(list(self.blocks))))


class Residual:
    """Two convolutions around which the input passes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        self.first = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norms = [nn.BatchNorm(outputs), nn.BatchNorm(outputs)]
        self.short = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)

    def __call__(self, x: Tensor) -> Tensor:
        y = self.norms[0](self.first(x)).relu()
        return (self.norms[1](self.second(y)) + self.short(x)).relu()


class ResNet:
    """Two residual stages, an average, scores of ten classes."""

    def __init__(self) -> None:
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.stages = [Residual(8, 8, 1), Residual(8, 16, 2)]
        self.scores = nn.Linear(16, 10)

    def __call__(self, x: Tensor) -> Tensor:
        return self.scores(self.stem(x).relu().sequential(list(self.stages)).mean(axis=(2, 3)))


def fill(model: Any, rng: np.random.Generator) -> list[Tensor]:
    """Give every weight numbers of its own; the weights, in order."""
    weights = [each for each in nn.state.get_parameters(model) if each.is_param]
    for weight in weights:
        shape = weight.shape
        scale = 1 / np.sqrt(np.prod(shape[1:]) or 1)
        weight.replace(Tensor((rng.standard_normal(shape) * scale).astype(np.float32)))
    return weights


def train(name: str, model: Any, x: Tensor, y: Tensor, rng: np.random.Generator) -> dict[str, Any]:
    """Two steps of Adam: outputs, losses, and the weights at the end."""
    weights = fill(model, rng)
    optimiser = nn.optim.Adam(weights, lr=1e-3)
    found: dict[str, Any] = {}
    with Context(TRAINING=1):
        for step in range(2):
            optimiser.zero_grad()
            scores = model(x)
            loss = scores.reshape(-1, scores.shape[-1]).sparse_categorical_crossentropy(y)
            found[f"{name}.scores.{step}"] = scores.numpy()
            found[f"{name}.loss.{step}"] = loss.numpy()
            loss.backward()
            if step == 0:
                for number, weight in enumerate(weights):
                    found[f"{name}.gradient.{number}"] = weight.grad.numpy()
            optimiser.step()
    return found


def main(file: str) -> None:
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 50, (2, 17)).astype(np.int32)
    pictures = rng.standard_normal((4, 3, 16, 16)).astype(np.float32)
    classes = rng.integers(0, 10, 4).astype(np.int32)
    before, after = Tensor(tokens[:, :-1].copy()), Tensor(tokens[:, 1:].reshape(-1).copy())
    np.savez(
        file,
        **train("transformer", Transformer(), before, after, rng),
        **train("resnet", ResNet(), Tensor(pictures), Tensor(classes), rng),
    )


if __name__ == "__main__":
    main(sys.argv[1])

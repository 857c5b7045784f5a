"""A decoder's logits equal those of NumPy in double precision, and of other implementations."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.foundry import FoundryError, format_of
from assay.foundry.library import Sampling, choose, penalised
from assay.foundry.model import SMALL, Llama, load_weights, reference_logits, write_seeded
from assay.foundry.types import half
from assay.prediction import timing

TINY = replace(SMALL, width=128, hidden=160, heads=4, head_size=32, pairs=16, vocabulary=90)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_seeded(tmp_path_factory.mktemp("model") / "m.gguf", TINY)


@pytest.fixture(scope="module")
def model(file: Path) -> Llama:
    return Llama.load(file, context=40)


def agrees(model: Llama, tokens: list[int], made: np.ndarray, bound: float) -> None:
    expected = reference_logits(model.weights, tokens, model.cache)[-1]
    assert made.shape == (model.config.vocabulary,)
    assert np.abs(made - expected).max() <= bound * np.abs(expected).max()


def test_each_token_follows_those_before_it(model: Llama) -> None:
    model.reset()
    tokens = [5, 71, 5, 0]
    for count, token in enumerate(tokens, 1):
        # Keys are rounded to half, as in the reference, but here and there to the other side.
        agrees(model, tokens[:count], model.feed([token]), 1e-3)
    assert model.position == 4


@pytest.mark.slow
def test_a_step_is_timed_and_leaves_the_model_as_it_was(model: Llama) -> None:
    model.reset()
    first = model.feed([3])
    found = model.time(chip="m4-max", position=30)
    assert {"attention", "cache_write"} <= {each.kernel for each in found.dispatches}
    assert found.seconds > 0
    after = model.feed([8])
    model.reset()
    assert np.array_equal(model.feed([3]), first)
    assert np.array_equal(model.feed([8]), after)


def test_tokens_are_chosen_by_the_largest_logit(model: Llama) -> None:
    model.reset()
    model.feed([5])
    made = model.generate([71], 3)
    model.reset()
    model.feed([5])
    for token, expected in zip([71, *made], made, strict=False):
        assert model.feed([token]).argmax() == expected


@pytest.mark.slow
def test_sampled_tokens_are_those_of_the_twin(model: Llama) -> None:
    model.reset()
    sampling = Sampling(temperature=0.8, top_k=20, top_p=0.9, min_p=0.01, seed=11)
    made = model.generate([5, 71, 3], 5, sampling=sampling, repetition=1.2, recent=4)
    model.reset()
    text, fed = [5, 71, 3], [5, 71, 3]
    for step in range(5):
        logits = penalised(model.feed(fed)[None], np.array([text[-4:]]), repetition=1.2)
        fed = choose(logits, sampling, step).tolist()
        text += fed
    assert made == text[3:]


@pytest.mark.slow
def test_a_prompt_and_a_token_behind_it(model: Llama) -> None:
    tokens = np.random.default_rng(4).integers(0, TINY.vocabulary, 18).tolist()
    model.reset()
    agrees(model, tokens[:17], model.feed(tokens[:17]), 1e-3)
    agrees(model, tokens, model.feed(tokens[17:]), 1e-3)


@pytest.mark.slow
def test_prompts_of_more_than_16_tokens_are_products_of_matrices(model: Llama) -> None:
    tokens = np.random.default_rng(4).integers(0, TINY.vocabulary, 17).tolist()
    kernels = {}
    for count in (16, 17):
        model.reset()
        with timing("m1", results=True) as seen:
            made = model.feed(tokens[:count])
        kernels[count] = {each.kernel for each in seen.result().dispatches}
        agrees(model, tokens[:count], made, 1e-3)
    assert not any(name.startswith("gemm_") for name in kernels[16])
    assert {"rms_norm", "swiglu", "prefill"} < kernels[17]
    assert (
        sum(name.startswith("gemm_") for name in kernels[17]) == 2
    )  # with a residual, and without


def test_layers_without_positions_do_not_turn(tmp_path: Path) -> None:
    config = replace(TINY, layers=2, unturned=frozenset({1}), heads=2, kv_heads=1)
    path = write_seeded(tmp_path / "m.gguf", config)
    weights = load_weights(path)
    model = Llama(replace(weights, config=config), cache="f32", context=8)
    for tokens in ([5], [5, 71], [5, 71, 3]):
        made = model.feed(tokens[-1:])
        agrees(model, tokens, made, 1e-5)
    turned = reference_logits(weights, tokens)[-1]
    assert np.abs(made - turned).max() > 1e-3 * np.abs(turned).max()


@pytest.mark.slow
def test_a_cache_grows_and_gives_what_a_large_one_gives(file: Path) -> None:
    tokens = [5, 71, 5, 0, 9, 33, 8, 1, 2]
    small, large = Llama.load(file, context=40, reserve=2), Llama.load(file, context=40)
    assert (small.capacity, large.capacity) == (2, 40)
    for first, last, capacity in [(0, 2, 2), (2, 3, 4), (3, 9, 16)]:
        made = small.feed(tokens[first:last])
        assert small.capacity == capacity
        assert np.array_equal(made, large.feed(tokens[first:last]))
    small.time(chip="m1", position=39)
    assert small.capacity == 40  # as many as there can be
    assert np.array_equal(small.feed([7]), large.feed([7]))


def test_room_for_no_token_is_refused(file: Path) -> None:
    with pytest.raises(FoundryError, match="reserve room for 1 to 40 tokens at first, not 41"):
        Llama.load(file, context=40, reserve=41)


def test_tokens_that_do_not_fit_are_refused(model: Llama) -> None:
    model.reset()
    with pytest.raises(FoundryError, match="tokens are 0 to 89"):
        model.feed([90])
    with pytest.raises(FoundryError, match="41 tokens behind 0 do not fit in a context of 40"):
        model.feed([1] * 41)
    with pytest.raises(FoundryError, match="positions are 0 to 39"):
        model.time(position=40)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cache", "element", "bound"),
    [
        ("f32", float, 1e-5),
        ("q8_0", float, 5e-2),
        ("q4_0", float, 0.4),
        ("fp8_e4m3", float, 0.1),
        ("mxfp4", float, 0.4),
        ("f16", half, 2e-2),
    ],
)
def test_a_prompt_then_tokens(file: Path, cache: str, element: Any, bound: float) -> None:
    # Where a sum differs in its last bit a code of the cache may be the next one: the bounds of
    # quantised caches are some steps of their codes.
    model = Llama.load(file, cache=cache, element=element, context=60)
    tokens = np.random.default_rng(1).integers(0, TINY.vocabulary, 45).tolist()
    agrees(model, tokens[:41], model.feed(tokens[:41]), bound)
    for count in range(42, 45):
        agrees(model, tokens[:count], model.feed([tokens[count - 1]]), bound)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f16", "q4_0", "q4_k", "q6_k", "mxfp4", "nvfp4", "bf16"])
def test_weights_of_gguf_files(tmp_path: Path, name: str) -> None:
    path = write_seeded(tmp_path / "m.gguf", replace(SMALL, layers=1), weights=name)
    model = Llama.load(path, cache="f32", context=8)
    agrees(model, [3, 9], [model.feed([token]) for token in (3, 9)][1], 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fp4_128", "nf4_128", "mlx_affine_4_64", "mlx_nvfp4_scaled", "q8_0_split"]
)
def test_weights_packed_into_other_formats(tmp_path: Path, name: str) -> None:
    path = write_seeded(tmp_path / "m.gguf", replace(SMALL, layers=1), weights="f16")
    model = Llama.load(path, weights=name, cache="f32", context=8)
    assert model.weights.layers[0].q.format == format_of(name)
    agrees(model, [3, 9], [model.feed([token]) for token in (3, 9)][1], 1e-5)


@pytest.mark.slow
def test_a_model_is_free_of_findings(file: Path) -> None:
    model = Llama.load(file, cache="q8_0", context=40)
    with assay.checking() as seen:
        model.feed([1, 2])
        model.feed([6])
    assert not seen.findings


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "qwen2", "smollm3"])
def test_logits_are_those_of_transformers(tmp_path: Path, kind: str) -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    sizes = {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 70,
        "max_position_embeddings": 64,
    }
    torch.manual_seed(0)
    names = {"llama": "Llama", "qwen2": "Qwen2", "smollm3": "SmolLM3"}
    made = f"{names[kind]}ForCausalLM"
    if kind == "smollm3":  # every second layer takes no positions
        sizes |= {"no_rope_layer_interval": 2, "pad_token_id": 0}
    config = transformers.AutoConfig.for_model(kind, **sizes)
    theirs = getattr(transformers, made)(config).float().eval()
    with torch.no_grad():
        for each in theirs.parameters():  # biases and norms too, which begin as zeros and ones
            each.add_(torch.randn_like(each) * 0.05)
    theirs.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == kind
    tokens = [3, 14, 15, 9, 2, 6, 5, 35]
    with torch.no_grad():
        expected = theirs(torch.tensor([tokens])).logits[0].numpy()
    model = Llama.load(tmp_path / "model.safetensors", cache="f32")
    assert np.allclose(reference_logits(model.weights, tokens), expected, atol=2e-5)
    assert np.allclose(model.feed(tokens[:-1]), expected[-2], atol=2e-5)
    assert np.allclose(model.feed(tokens[-1:]), expected[-1], atol=2e-5)
    assert load_weights(tmp_path / "model.safetensors").config.is_neox

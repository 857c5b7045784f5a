"""Files of models: read where they lie, as the formats' own packages read them, or refused."""

import json
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

from assay.foundry import FoundryError, format_of
from assay.foundry.model import SMALL, Llama, load_weights, write_seeded
from assay.foundry.model.config import transformers_config
from assay.foundry.model.gguf import TYPES, read_gguf
from assay.foundry.model.safetensors import read_safetensors

TINY = replace(SMALL, layers=1, hidden=256, vocabulary=32)


@pytest.mark.parametrize("name", TYPES.values())
def test_a_seeded_file_is_what_the_gguf_package_reads(tmp_path: Path, name: str) -> None:
    path = write_seeded(tmp_path / "m.gguf", TINY, weights=name)
    ours = read_gguf(path)
    theirs = gguf.GGUFReader(path)
    assert {each.name for each in theirs.tensors} == set(ours.tensors)
    for each in theirs.tensors:
        mine = ours.tensor(each.name)
        assert mine.shape == tuple(each.shape.tolist()[::-1])
        assert np.array_equal(mine.data, each.data.reshape(-1).view(np.uint8))
        if name != "nvfp4":  # the package does not decode it
            expected = gguf.quants.dequantize(each.data, each.tensor_type)
            assert np.array_equal(mine.values, expected.reshape(mine.shape))
    assert ours.metadata["llama.block_count"] == 1
    assert load_weights(path).config == TINY


def test_metadata_of_every_type_is_read(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_uint8("a", 200)
    writer.add_int64("b", -5)
    writer.add_float64("c", 0.1)
    writer.add_bool("d", True)
    writer.add_array("e", ["x", "y z"])
    writer.add_array("f", [1, 2, 3])
    writer.add_tensor("t", np.arange(6, dtype=np.float16).reshape(2, 3))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = read_gguf(tmp_path / "m.gguf")
    found = [file.metadata[key] for key in "abcdef"]
    assert found == [200, -5, 0.1, True, ["x", "y z"], [1, 2, 3]]
    assert np.array_equal(file.tensor("t").values, np.arange(6).reshape(2, 3))


def test_tensors_lie_where_the_file_has_them(tmp_path: Path) -> None:
    weights = load_weights(write_seeded(tmp_path / "m.gguf", TINY))
    begin = weights.file.ctypes.data
    place = weights.layers[0].gate.packed.matrix.ctypes.data
    assert 0 < place - begin < weights.file.size
    packed = load_weights(tmp_path / "m.gguf", format_of("mlx_affine_4_64"))
    assert packed.layers[0].gate.format.name == "mlx_affine_4_64"
    assert packed.embedding.format.name == "q8_0"


def test_damaged_files_are_refused_in_words(tmp_path: Path) -> None:
    whole = write_seeded(tmp_path / "m.gguf", TINY).read_bytes()
    damaged = tmp_path / "damaged.gguf"
    for length in [*range(0, 900, 7), len(whole) // 2, len(whole) - 33]:
        damaged.write_bytes(whole[:length])
        with pytest.raises(FoundryError, match=r"damaged\.gguf"):
            load_weights(damaged)
    random = np.random.default_rng(0)
    for _ in range(200):  # any change is refused, or gives some model
        noisy = bytearray(whole)
        noisy[random.integers(4, 1000)] = random.integers(256)
        damaged.write_bytes(noisy)
        try:
            load_weights(damaged)
        except FoundryError:
            continue
    with pytest.raises(FoundryError, match=r"models are \.gguf and \.safetensors"):
        load_weights(tmp_path / "model.bin")


def test_safetensors_are_read_as_their_package_writes_them(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    random = np.random.default_rng(0)
    tensors = {"a": random.normal(size=(3, 5)).astype(np.float16), "b": np.ones(7, np.float32)}
    path = tmp_path / "model.safetensors"
    save_file(tensors, path, {"made": "here"})
    with pytest.raises(FoundryError, match=r"config\.json, which says what"):
        read_safetensors(path)
    path.with_name("config.json").write_text(json.dumps({"model_type": "gpt2"}))
    file = read_safetensors(path)
    assert all(np.array_equal(file.tensor(name).values, each) for name, each in tensors.items())
    with pytest.raises(FoundryError, match="the model is gpt2; read are llama"):
        load_weights(path)
    damaged = tmp_path / "damaged.safetensors"
    for data in (b"", b"\xff" * 20, path.read_bytes()[:-1], b"\x02" + bytes(7) + b"[]"):
        damaged.write_bytes(data)
        with pytest.raises(FoundryError, match="damaged"):
            read_safetensors(damaged)


def test_a_tensor_that_no_step_reads_is_refused(tmp_path: Path) -> None:
    seeded = read_gguf(write_seeded(tmp_path / "seeded.gguf", TINY))
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in seeded.metadata.items():
        if key.startswith("llama."):
            add = writer.add_float32 if isinstance(value, float) else writer.add_uint32
            add(key, value)
    for name, each in seeded.tensors.items():
        writer.add_tensor(name, each.values.astype(np.float32))
    writer.add_tensor("blk.0.attn_q_norm.weight", np.ones(TINY.head_size, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(FoundryError, match=r"attn_q_norm\.weight \(1 tensors that no step"):
        load_weights(path)


def test_tokens_beyond_the_window_of_a_model_are_refused(tmp_path: Path) -> None:
    weights = load_weights(write_seeded(tmp_path / "m.gguf", TINY))
    windowed = replace(weights, config=replace(weights.config, window=8))
    assert Llama(windowed).context == 8
    with pytest.raises(FoundryError, match="choose a context of 8 at most, not 9"):
        Llama(windowed, context=9)


@pytest.mark.parametrize(
    ("kind", "more", "window"),
    [
        ("mistral", {"sliding_window": 4096}, 4096),
        ("mistral", {"sliding_window": None}, 0),
        ("qwen2", {"sliding_window": 4096}, 0),
        ("qwen2", {"sliding_window": 4096, "use_sliding_window": True}, 4096),
        ("llama", {}, 0),
    ],
)
def test_windows_of_attention_are_read(kind: str, more: dict[str, object], window: int) -> None:
    sizes = {
        "num_attention_heads": 4,
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "intermediate_size": 96,
        "vocab_size": 10,
    }
    assert transformers_config({"model_type": kind, **sizes, **more}).window == window

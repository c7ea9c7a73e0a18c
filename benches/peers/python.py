"""ONNX Runtime and PyTorch on the workloads of this benchmark, one thread each.

The Rust program starts it (`--python INTERPRETER`) and asks, a line of JSON at a time:

    {"load": "W1"}      answers {"ONNX Runtime": [output, ...], "PyTorch": [...]}
    {"sample": "PyTorch", "repeats": 3}   answers the milliseconds of processor time of a forward pass
    {"rss": "PyTorch"}  answers the MiB that a forward pass has at most in memory, when all is loaded

With a second argument, `ONNX Runtime` or `PyTorch`, it has only that one. Needs numpy, onnxruntime and torch; what is not
installed is left out.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

import numpy

CAPACITY = 512  # tokens that a cache has room for


def read(path):
    """The shape of the workload and its tensors: a file of safetensors."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    shape = json.loads(header.pop("__metadata__")["shape"])
    tensors = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = numpy.frombuffer(data[start:end], numpy.float32).reshape(entry["shape"]).copy()
    return shape, tensors


def heads(shape, tokens):
    """`[past, d_model]` as `[1, heads, CAPACITY, d_head]`."""
    split = tokens.reshape(len(tokens), shape["heads"], -1).transpose(1, 0, 2)
    room = numpy.zeros((1, shape["heads"], CAPACITY, split.shape[2]), numpy.float32)
    room[0, :, : len(tokens)] = split
    return room


class OnnxRuntime:
    """The session with all optimizations, which packs weights, inputs and outputs bound; attention as one operator, as its own
    optimizer for transformers makes it; keys and values appended in place by `GroupQueryAttention`, as its generator has it."""

    name = "ONNX Runtime"

    def __init__(self, path, shape, tensors):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        value = lambda array: onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(array))
        self.output_value = value(numpy.zeros_like(tensors["x"])[None])
        self.values = {"x": value(tensors["x"][None])}
        for layer in range(shape["layers"] if shape["past"] else 0):
            for kind in ["key", "value"]:
                self.values[f"{kind}.{layer}"] = value(heads(shape, tensors[f"past.{layer}.{kind}"]))
        if shape["past"]:
            self.values["before"] = value(numpy.array([shape["past"]], numpy.int32))
        for name, bound in self.values.items():
            self.binding.bind_ortvalue_input(name, bound)
            if re.match("key|value", name):
                self.binding.bind_ortvalue_output(f"new_{name}", bound)
        self.binding.bind_ortvalue_output("y", self.output_value)

    def forward(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        return self.output_value.numpy().flatten().tolist()


class PyTorch:
    """Its functions in inference mode, `scaled_dot_product_attention` among them; queries, keys and values by one map, as
    `nn.MultiheadAttention` has it; keys and values written into tensors that have room for more."""

    name = "PyTorch"

    def __init__(self, _, shape, tensors):
        import torch

        torch.set_num_threads(1)
        self.torch, self.shape = torch, shape
        tensors = {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}
        self.x, self.y = tensors["x"][None], None
        self.layers = []
        for layer in range(shape["layers"]):
            part = lambda name: (tensors.pop(f"{layer}.{name}.weight"), tensors.pop(f"{layer}.{name}.bias"))
            maps = [part(name) for name in ["query", "key", "value"]]
            self.layers.append({
                "input": tuple(torch.cat([map[i] for map in maps]) for i in range(2)),
                **{name: part(name) for name in ["output", "attention_norm", "inner", "outer", "feed_forward_norm"]},
                "cache": [
                    torch.from_numpy(heads(shape, tensors.pop(f"past.{layer}.{kind}").numpy()))
                    for kind in (["key", "value"] if shape["past"] else [])
                ],
            })
        self.final_norm = (tensors["norm.weight"], tensors["norm.bias"]) if "norm.weight" in tensors else None

    def forward(self):
        with self.torch.inference_mode():
            self.y = self.stack(self.x)

    def stack(self, x):
        functional, first = self.torch.nn.functional, self.shape["norm_first"]
        norm = lambda x, parts: functional.layer_norm(x, x.shape[-1:], *parts, self.shape["epsilon"])
        activation = {
            "Relu": functional.relu,
            "Gelu": functional.gelu,
            "GeluTanh": lambda x: functional.gelu(x, approximate="tanh"),
        }[self.shape["activation"]]
        for layer in self.layers:
            normed = norm(x, layer["attention_norm"]) if first else x
            x = x + functional.linear(self.attention(layer, normed), *layer["output"])
            if not first:
                x = norm(x, layer["attention_norm"])
            normed = norm(x, layer["feed_forward_norm"]) if first else x
            x = x + functional.linear(activation(functional.linear(normed, *layer["inner"])), *layer["outer"])
            if not first:
                x = norm(x, layer["feed_forward_norm"])
        return norm(x, self.final_norm) if self.final_norm else x

    def attention(self, layer, x):
        tokens, past, d_model = self.shape["tokens"], self.shape["past"], self.shape["d_model"]
        split = self.torch.nn.functional.linear(x, *layer["input"]).view(1, tokens, 3, self.shape["heads"], -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        if past:
            keys, values = layer["cache"]
            keys[:, :, past : past + tokens] = key
            values[:, :, past : past + tokens] = value
            key, value = keys[:, :, : past + tokens], values[:, :, : past + tokens]
        context = self.torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return context.transpose(1, 2).reshape(1, tokens, d_model)

    def output(self):
        return self.y.flatten().tolist()


def peak():
    """MiB: the peak of the resident set."""
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def load(folder, workload, only):
    """The frameworks that are installed, with the output of one forward pass."""
    shape, tensors = read(folder / f"{workload}.safetensors")
    peers, answer = {}, {}
    for kind in [OnnxRuntime, PyTorch]:
        if only in (None, kind.name):
            try:
                peer = kind(folder / f"{workload}.onnx", shape, tensors)
            except ImportError as error:
                print(f"{kind.name} is left out: {error}", file=sys.stderr)
                continue
            peer.forward()
            peers[kind.name], answer[kind.name] = peer, peer.output()
    return peers, answer


def sample(peer, repeats):
    """Milliseconds of processor time of a forward pass, after one that is not counted."""
    peer.forward()
    start = time.process_time_ns()
    for _ in range(repeats):
        peer.forward()
    return (time.process_time_ns() - start) / repeats * 1e-6


def main():
    folder, only = Path(sys.argv[1]), (sys.argv[2:] or [None])[0]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    peers = {}
    for line in sys.stdin:
        question = json.loads(line)
        if "load" in question:
            peers = {}  # the old ones first
            peers, answer = load(folder, question["load"], only)
        elif "sample" in question:
            answer = sample(peers[question["sample"]], question["repeats"])
        else:
            Path("/proc/self/clear_refs").write_text("5")
            peers[question["rss"]].forward()
            answer = peak()
        print(json.dumps(answer), file=answers)


main()

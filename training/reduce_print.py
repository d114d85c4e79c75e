"""Makes the networks of `models/print-reader` from those of PP-OCR v6.

The detector stays as it is. The recogniser keeps the classes of European scripts: of 18,710 characters most are Chinese, and
their weights are nearly half of the file. Weights are stored as half floats, which ONNX Runtime turns back into floats when it
loads the file.

    pip download --no-deps rapidocr==3.10.0 && python -m zipfile -e rapidocr-3.10.0-*.whl FOLDER
    python -m training.reduce_print --weights FOLDER/rapidocr/models --out models/print-reader/2026-11-22
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import unicodedata

import numpy
import onnx
from onnx import helper, numpy_helper

SOURCES = {
    "PP-OCRv6_det_small.onnx": "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    "PP-OCRv6_rec_small.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
# Latin with its accents, Greek and Cyrillic, by the names that Unicode gives their letters.
SCRIPTS = ("LATIN ", "GREEK ", "CYRILLIC ")
SYMBOLS = set("£€§°·–—‘’“”«»„•…№™®©×±²³½¼¾µ¡¿/")
# Smaller tensors are scales and biases: halving them saves nothing.
LEAST_HALVED = 1024


def is_kept(character: str) -> bool:
    if len(character) != 1:
        return False
    if ord(character) < 128 or character in SYMBOLS:
        return True
    name = unicodedata.name(character, "")
    return name.startswith(SCRIPTS) and "FULLWIDTH" not in name


def keep_classes(model: onnx.ModelProto) -> list[str]:
    """Removes classes from the last layer. Returns the labels of those that stay, the CTC blank first and the space last."""
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    labels = ["", *metadata["character"].rstrip("\n").split("\n"), " "]
    kept = [0, *(index for index, label in enumerate(labels) if index > 0 and is_kept(label))]
    reduced = 0
    for tensor in model.graph.initializer:
        if len(labels) not in tensor.dims:
            continue
        axis = list(tensor.dims).index(len(labels))
        values = numpy.take(numpy_helper.to_array(tensor), kept, axis=axis)
        tensor.CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(values), tensor.name))
        reduced += 1
    if reduced != 2:
        raise SystemExit(f"expected the weights and the biases of the last layer, found {reduced} tensors")
    (output,) = model.graph.output
    output.type.tensor_type.shape.dim[-1].dim_value = len(kept)
    del model.graph.value_info[:]
    del model.metadata_props[:]
    return [labels[index] for index in kept]


def store_halves(model: onnx.ModelProto) -> None:
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT or numpy.prod(tensor.dims) < LEAST_HALVED:
            continue
        values = numpy_helper.to_array(tensor)
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(numpy.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT, name=f"{name}.cast"))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def rename(model: onnx.ModelProto, output_name: str) -> None:
    """Gives the only output a name that says what it holds."""
    (output,) = model.graph.output
    for node in model.graph.node:
        for index, name in enumerate(node.output):
            if name == output.name:
                node.output[index] = output_name
        for index, name in enumerate(node.input):
            if name == output.name:
                node.input[index] = output_name
    output.name = output_name


def load(folder: pathlib.Path, name: str) -> onnx.ModelProto:
    content = (folder / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SOURCES[name]:
        raise SystemExit(f"{name} has the SHA-256 {digest}, not {SOURCES[name]}")
    return onnx.load_from_string(content)


def save(model: onnx.ModelProto, path: pathlib.Path) -> None:
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    print(f"{path} {path.stat().st_size} bytes, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    detector = load(options.weights, "PP-OCRv6_det_small.onnx")
    rename(detector, "text_probabilities")
    store_halves(detector)
    save(detector, options.out / "detector.onnx")

    reader = load(options.weights, "PP-OCRv6_rec_small.onnx")
    labels = keep_classes(reader)
    rename(reader, "character_probabilities")
    store_halves(reader)
    save(reader, options.out / "text-line.onnx")
    print(f"{len(labels)} classes")
    print(json.dumps(labels, ensure_ascii=False))


if __name__ == "__main__":
    main()

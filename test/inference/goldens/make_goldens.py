"""Computes `preprocessing.json` with the Python reader (Pillow, NumPy): what the TypeScript toolkit is held to.

    python test/inference/goldens/make_goldens.py > test/inference/goldens/preprocessing.json
    npx biome format --write test/inference/goldens

Run from the top of the repository, in the environment of `training/requirements.txt`.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[3]))
from training import reader  # noqa: E402
from training.labels import TEXT_LABELS  # noqa: E402


def test_picture(width: int, height: int) -> Image.Image:
    """The same formula stands in preprocessing.test.ts: ramps with a fine pattern, so that every pixel matters."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * 7 + y * 3 + (x * y) % 31 * 5 + channel * 61) % 256 for channel in range(3)]
    return Image.fromarray(np.stack(planes, -1).astype(np.uint8))


def as_bytes(tensor: np.ndarray) -> str:
    """float32 [..., 3, H, W] in 0..1 -> base64 of the pixels it came from."""
    return base64.b64encode(np.round(tensor * 255).astype(np.uint8).tobytes()).decode()


def main() -> None:
    picture = test_picture(97, 61)
    letterboxes = []
    for box, width, height in (([0, 0, 97, 61], 40, 40), ([10.3, 5.7, 61.9, 40.2], 36, 24), ([3.5, 2, 9.25, 20.5], 24, 40)):
        tensor, (scale, left, top) = reader.letterbox(picture, box, width, height)
        letterboxes.append({"box": box, "width": width, "height": height, "scale": scale, "left": left, "top": top,
                            "tensor": as_bytes(tensor)})
    squares = []
    for box, factor, size in (([20.2, 10.1, 50.9, 30.4], 1.3, 16), ([-3, 40, 22.5, 61], 1.15, 24), ([80, 4, 97, 11.5], 1.3, 48)):
        squares.append({"box": box, "factor": factor, "size": size,
                        "tensor": as_bytes(reader.square_crop(picture, box, factor, size))})
    lines = []
    for box in ([30, 20, 80, 30.5], [5.5, 30.25, 17, 43], [0, 55.5, 20, 61]):
        tensor = reader.line_tensor(picture, box)
        values = base64.b64encode(np.round(tensor * 65535).astype("<u2").tobytes()).decode()
        lines.append({"box": box, "shape": list(tensor.shape), "values": values})

    generator = np.random.default_rng(7)
    logits = generator.normal(size=(28, len(TEXT_LABELS))) * 4
    logits -= np.log(np.exp(logits).sum(1, keepdims=True))
    text, weakest, sure = reader.decode_line(logits.astype(np.float32))
    values = base64.b64encode(logits.astype("<f4").tobytes()).decode()
    ctc = {"labels": TEXT_LABELS, "shape": list(logits.shape), "logProbabilities": values, "text": text,
           "weakest": weakest, "probabilities": sure}

    boxes = generator.uniform(0, 40, size=(14, 2))
    items = [{"box": [*map(float, b), float(b[0] + w), float(b[1] + h)], "place": place}
             for place, (b, (w, h)) in enumerate(zip(boxes, generator.uniform(5, 30, size=(14, 2))))]
    kept = [item["place"] for item in reader.suppress(items, 0.3)]
    suppression = {"boxes": [item["box"] for item in items], "overlap": 0.3, "kept": kept}

    json.dump({"letterboxes": letterboxes, "squares": squares, "lines": lines,
               "lineRules": reader.RULES["line"], "ctc": ctc, "suppression": suppression}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()

"""Figures of the text-line reader on single held-out lines, by kind of line.

    python -m training.evaluate_lines --models models --count 400

One crop per line, as INTERFACE.md says for a line that is read once. The
margins are jittered as in training. "Characters right" is one minus the
edit distance over the length.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime

from .evaluate import Share
from .labels import TEXT_RELEASE
from .lines import sample_line
from .reader import PAD, decode_line

KINDS = ["odometer", "drums", "vin", "plate", "tire"]


def distance(a: str, b: str) -> int:
    """Edit distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--count", type=int, default=400, help="lines of each kind")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(args.models / "text-line" / TEXT_RELEASE / "text-line.onnx"), options, providers=["CPUExecutionProvider"])
    rows = {}
    for number, kind in enumerate(KINDS):
        rng = np.random.default_rng([args.seed, number])
        exact, alike, wrong, length = Share(), Share(), 0, 0
        for _ in range(args.count):
            pixels, text = sample_line(rng, "held_out", kind)
            width = max(64, -(-pixels.shape[1] // 4) * 4)
            image = np.full((1, 1, 32, width), PAD, np.float32)
            image[0, 0, :, :pixels.shape[1]] = pixels
            got = decode_line(session.run(None, {"images": image / 255})[0][0])[0].strip()
            exact.add(got == text)
            plain = lambda s: "".join(ch for ch in s.lower() if ch not in " .,")
            alike.add(plain(got) == plain(text))
            wrong, length = wrong + distance(got, text), length + len(text)
        rows[f"{kind}: exact"] = exact.row()
        rows[f"{kind}: exact without separators and case"] = alike.row()
        rows[f"{kind}: characters right"] = f"{100 * (1 - wrong / length):.1f} %"
    for name, value in rows.items():
        print(f"{name}: {value}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

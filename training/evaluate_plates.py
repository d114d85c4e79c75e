"""How well the network of the model `plate-finder` finds plates: recall and precision at an IoU of 0.5, with Wilson 95 % intervals.

    python -m training.evaluate_plates --models models --truth FILE --pictures FOLDER [--longest 960] [--json FILE]

The truth states boxes per picture, as [x0, y0, x1, y1] or as {"bbox": [x, y, width, height]}.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

from .backbone import MEAN, STD
from .evaluate import Share
from .export_plates import LONGEST, MODEL, RELEASE
from .write_model_json import PAD

IOU = 0.5
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def prepared(pixels: np.ndarray, longest: int) -> tuple[np.ndarray, float, tuple[float, float]]:
    """As the service prepares `fit`: scaled to `longest`, padded to multiples of 96 in the middle. Returns scale and offsets."""
    height, width = pixels.shape[:2]
    scale = longest / max(width, height)
    sides = [round(side * scale) for side in (width, height)]
    small = cv2.resize(pixels, sides, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    padded = [-(-side // 96) * 96 for side in sides]
    left, top = (padded[0] - sides[0]) // 2, (padded[1] - sides[1]) // 2
    canvas = np.full((padded[1], padded[0], 3), PAD * 255, np.float32)
    canvas[top:top + sides[1], left:left + sides[0]] = small
    tensor = ((canvas / 255 - np.float32(MEAN)) / np.float32(STD)).transpose(2, 0, 1)[None]
    return np.ascontiguousarray(tensor, np.float32), scale, (left, top)


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    inside = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None).prod()
    return float(inside / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - inside))


def found_in(session: onnxruntime.InferenceSession, pixels: np.ndarray, longest: int, overlap_limit: float = 0.4) -> list[tuple[float, np.ndarray]]:
    """Score and box of each plate in pixels of the picture, best first."""
    tensor, scale, offset = prepared(pixels, longest)
    rows = session.run(None, {"picture": tensor})[0][0].T
    kept: list[tuple[float, np.ndarray]] = []
    for x, y, width, height, score in rows[rows[:, 4] >= min(THRESHOLDS), :5]:
        box = (np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2]) - np.array(offset * 2)) / scale
        if all(overlap(box, other) <= overlap_limit for _, other in kept):
            kept.append((float(score), box))
    return kept


def boxes_of(entries: list) -> list[np.ndarray]:
    return [
        np.float64([each["bbox"][0], each["bbox"][1], each["bbox"][0] + each["bbox"][2], each["bbox"][1] + each["bbox"][3]])
        if isinstance(each, dict) else np.float64(each)
        for each in entries
    ]


def matched(found: list[tuple[float, np.ndarray]], truth: list[np.ndarray], threshold: float) -> tuple[int, int]:
    """How many boxes of the truth are found, and how many results there are."""
    left, results = list(truth), [box for score, box in found if score >= threshold]
    hits = 0
    for box in results:
        best = max(range(len(left)), key=lambda index: overlap(box, left[index]), default=None)
        if best is not None and overlap(box, left[best]) >= IOU:
            left.pop(best)
            hits += 1
    return hits, len(results)


def share(hits: int, of: int) -> str:
    counted = Share()
    counted.hits, counted.n = hits, of
    return counted.row()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, required=True)
    parser.add_argument("--longest", type=int, default=LONGEST)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(args.models / MODEL / RELEASE / "detector.onnx"), options, providers=["CPUExecutionProvider"])
    pictures, seconds = [], 0.0
    for name, entries in sorted(json.loads(args.truth.read_text()).items()):
        pixels = cv2.cvtColor(cv2.imread(str(args.pictures / name)), cv2.COLOR_BGR2RGB)
        begin = time.process_time()
        found = found_in(session, pixels, args.longest)
        seconds += time.process_time() - begin
        pictures.append((name, found, boxes_of(entries)))
    plates = sum(len(truth) for _, _, truth in pictures)
    print(f"{len(pictures)} pictures, {plates} plates, {1000 * seconds / len(pictures):.0f} ms of processor time each")
    figures = {}
    for threshold in THRESHOLDS:
        counts = [matched(found, truth, threshold) for _, found, truth in pictures]
        hits, results = (sum(each) for each in zip(*counts))
        figures[threshold] = {"found": hits, "plates": plates, "results": results}
        print(f"score {threshold}: recall {share(hits, plates)}, precision {share(hits, results)}")
    if args.json:
        listed = {name: [[score, *box.tolist()] for score, box in found] for name, found, _ in pictures}
        args.json.write_text(json.dumps({"figures": figures, "found": listed}))


if __name__ == "__main__":
    main()

"""Write model.json beside the ONNX files of both models (sha256, shapes, labels, thresholds).

    python -m training.write_model_json --models models
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from . import networks as nets
from .labels import LAMP_CODES, LAMPS, RELEASE, TEXT_LABELS, TEXT_RELEASE
from .reader import RULES, THRESHOLDS

LICENSE = "Apache-2.0 (trained from scratch on generated pictures)"
PAD = round(114 / 255, 6)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def picture_input(shape: list, resize: str = "letterbox") -> dict:
    return {"shape": shape, "layout": "NCHW", "dtype": "float32", "colour": "RGB", "range": [0, 1],
            "mean": [0, 0, 0], "std": [1, 1, 1], "resize": resize,
            "interpolation": "bilinear, area-aware when shrinking", "pad": PAD}


def dashboard_reader(folder: Path) -> dict:
    lamp_labels = [{"code": "none", "label": "Not a lit warning lamp", "severity": None, "colour": None}]
    lamp_labels += [{"code": c, "label": t, "severity": s, "colour": k} for c, t, s, k in LAMPS]
    assert [entry["code"] for entry in lamp_labels] == LAMP_CODES
    size = nets.LOCATOR_SIZE
    height, width = nets.ELEMENTS_HEIGHT, nets.ELEMENTS_WIDTH
    files = {
        "locator": {
            "path": "locator.onnx",
            "inputs": {"image": picture_input([1, 3, size, size])},
            "outputs": {
                "boxes": {"shape": [5, 4], "meaning": "instrument cluster boxes, xyxy, best first", "coordinateSpace": "input pixels"},
                "scores": {"shape": [5], "meaning": "sorted descending; the first is the probability that the picture shows an instrument cluster"},
                "lit": {"shape": [1], "meaning": "probability that the cluster is powered (day or night)"},
            },
        },
        "elements": {
            "path": "elements.onnx",
            "inputs": {"image": picture_input([1, 3, height, width])},
            "outputs": {
                "boxes": {"shape": [40, 4], "meaning": "element boxes, xyxy", "coordinateSpace": "input pixels"},
                "scores": {"shape": [40], "meaning": "sorted descending, 0..1"},
                "labels": {"shape": [40], "dtype": "int64", "meaning": "index into labels"},
            },
            "labels": nets.ELEMENT_CLASSES,
        },
        "lamps": {
            "path": "lamps.onnx",
            "inputs": {"images": picture_input(["N", 3, nets.LAMP_SIZE, nets.LAMP_SIZE], "square crop")},
            "outputs": {"probabilities": {"shape": ["N", len(LAMP_CODES)], "meaning": "soft-max over labels; class 0 is not a lit lamp"}},
            "labels": lamp_labels,
        },
        "fuel": {
            "path": "fuel.onnx",
            "inputs": {"images": picture_input(["N", 3, nets.FUEL_SIZE, nets.FUEL_SIZE], "square crop")},
            "outputs": {
                "level": {"shape": ["N"], "meaning": "fuel level, 0 empty .. 1 full"},
                "confidence": {"shape": ["N"], "meaning": "probability that the level is right within 0.08 of full scale"},
            },
        },
    }
    for entry in files.values():
        entry["sha256"] = digest(folder / entry["path"])
    return {
        "model": "dashboard-reader", "release": RELEASE, "task": "dashboard-reading",
        "description": "Finds an instrument cluster in a photograph, says whether it is lit, and finds its odometer line, fuel gauge and lit warning lamps. Trained on generated pictures only; preview.",
        "license": LICENSE, "files": files, "uses": {"text": f"text-line@{TEXT_RELEASE}", "print": "print-reader"},
        "thresholds": {k: THRESHOLDS[k] for k in ("presence", "lit", "litProof", "odometer", "odometerText", "lamp", "lampClass", "fuel", "fuelConfidence", "character")},
        "rules": RULES,
        # One process of Node.js with all networks and two pictures of 50 megapixels.
        "memoryMb": 600,
        "warmUp": {"locator": {"image": [1, 3, size, size]}, "elements": {"image": [1, 3, height, width]},
                   "lamps": {"images": [1, 3, nets.LAMP_SIZE, nets.LAMP_SIZE]}, "fuel": {"images": [1, 3, nets.FUEL_SIZE, nets.FUEL_SIZE]}},
    }


def text_line(folder: Path) -> dict:
    entry = {
        "path": "text-line.onnx", "sha256": digest(folder / "text-line.onnx"),
        "inputs": {"images": {"shape": ["N", 1, nets.LINE_HEIGHT, "W"], "layout": "NCHW", "dtype": "float32", "colour": "grey (0.299 R + 0.587 G + 0.114 B)",
                              "range": [0, 1], "mean": [0], "std": [1], "resize": "to height 32, aspect kept, padded on the right to a multiple of 4, at least 64",
                              "interpolation": "bilinear, area-aware when shrinking", "pad": PAD}},
        "outputs": {"log_probabilities": {"shape": ["N", "T", len(TEXT_LABELS)], "meaning": "natural-log probabilities per step, T = W / 4; greedy CTC: arg-max per step, merge repeats, drop blank"}},
        "labels": TEXT_LABELS, "blank": 0,
    }
    return {
        "model": "text-line", "release": TEXT_RELEASE, "task": "text-line-reading",
        "description": "Reads one line of print (odometer, VIN, number plate, tire sidewall). Trained on generated pictures only; preview.",
        "license": LICENSE, "files": {"text-line": entry}, "thresholds": {"character": THRESHOLDS["character"]},
        "rules": RULES["line"],
        "memoryMb": 40,
        "warmUp": {"text-line": {"images": [1, 1, nets.LINE_HEIGHT, 224]}},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path("models"))
    args = parser.parse_args()
    for name, release, build in (("dashboard-reader", RELEASE, dashboard_reader), ("text-line", TEXT_RELEASE, text_line)):
        folder = args.models / name / release
        (folder / "model.json").write_text(json.dumps(build(folder), indent=2) + "\n")
        print(folder / "model.json")


if __name__ == "__main__":
    main()

"""Reference reader: one picture in, one dashboard reading out.

    python -m training.reader PICTURE...

Steps, every rule as numbers in RULES and THRESHOLDS (they are also written
to model.json): letterbox -> locator -> crop -> elements -> lamps, fuel and
text line -> result. All boxes inside this file are xyxy in original pixels
unless a name says otherwise.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

from .labels import LAMP_CODES, RELEASE, TEXT_LABELS, TEXT_RELEASE

PAD = 114  # grey level of every padded pixel

THRESHOLDS = {
    "presence": 0.5,        # best locator score below this: no dashboard, nothing else is read
    "lit": 0.5,
    "litProof": 0.6,        # confidence of a lamp that proves the cluster lit
    "odometer": 0.2,        # elements score of an odometer box
    "odometerText": 0.25,   # agreement of the views, see Reader.odometer
    "lamp": 0.3,            # elements score of a lamp box
    "lampClass": 0.5,       # probability of the best lamp class
    "fuel": 0.3,            # elements score of a fuel gauge
    "fuelConfidence": 0.6,  # confidence output of fuel.onnx
    "character": 0.5,       # weakest character of an accepted line
}

RULES = {
    "clusterMargin": 0.06,      # of the box's width and height, each side, clamped to the picture
    "lampSide": 1.3,            # square crop side = this x the longer side of the box
    "fuelSide": 1.15,
    # Margins (shares of the box's width and height) of one crop, and of the five crops an odometer is read from.
    "line": {"marginX": 0.12, "marginY": 0.14, "minimumWidth": 64, "maximumWidth": 512, "multipleOf": 4},
    "odometerPattern": None,   # filled in below
    "odometerViews": [[0.06, 0.10], [0.10, 0.14], [0.13, 0.10], [0.16, 0.18], [0.12, 0.14]],
    "overlap": 0.45,            # boxes of the same kind with a greater IoU: the weaker one is dropped
    "odometerCandidates": 3,
    "fuelCandidates": 3,
    "maximumLamps": 24,
}

# A crop's edge may cut the unit (any word in k is km, in m is miles), and may show the end of a
# label before the digits ("D0 ", "A ", or all of it as "040") or a stroke of what follows the unit. Groups of thousands use one separator.
ODOMETER = re.compile(
    r"^(?:(?:(?:ODO|TOTAL)\s*|040\s+)|[A-Z.,]{0,2}[0O]{0,2}[.,]?\s+|[.,]\s*)?(\d{1,3}([ ,.])\d{3}(?:\2\d{3})*|\d{1,7})(?:\s*([kKmM][A-Za-z]{0,6})[0-9A-Z]{0,2})?$")
RULES["odometerPattern"] = ODOMETER.pattern


def letterbox(picture: Image.Image, box, width: int, height: int):
    """Crop `box` (xyxy, original pixels, may be fractional), fit it into width x height on grey.

    Returns float32 [1,3,height,width] 0..1 and (scale, left, top): input = (original - box origin) * scale + (left, top).
    """
    bw, bh = box[2] - box[0], box[3] - box[1]
    scale = min(width / bw, height / bh)
    w, h = max(1, round(bw * scale)), max(1, round(bh * scale))
    left, top = (width - w) // 2, (height - h) // 2
    small = picture.resize((w, h), Image.BILINEAR, box=tuple(box))
    canvas = np.full((height, width, 3), PAD, np.uint8)
    canvas[top:top + h, left:left + w] = np.asarray(small)
    return to_tensor(canvas)[None], (scale, left, top)


def to_tensor(pixels: np.ndarray) -> np.ndarray:
    """uint8 [H,W,3] -> float32 [3,H,W] 0..1."""
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)).astype(np.float32) / 255


def square_crop(picture: Image.Image, box, factor: float, size: int) -> np.ndarray:
    """Square around the box's centre, side = factor x longer side; outside the picture is grey."""
    side = max(1.0, factor * max(box[2] - box[0], box[3] - box[1]))
    x0 = (box[0] + box[2] - side) / 2
    y0 = (box[1] + box[3] - side) / 2
    # Integer window, so that padding and cropping need no sub-pixel agreement.
    x0, y0, side = int(np.floor(x0)), int(np.floor(y0)), int(np.ceil(side))
    window = Image.new("RGB", (side, side), (PAD, PAD, PAD))
    cx0, cy0 = max(0, x0), max(0, y0)
    cx1, cy1 = min(picture.width, x0 + side), min(picture.height, y0 + side)
    if cx1 > cx0 and cy1 > cy0:
        window.paste(picture.crop((cx0, cy0, cx1, cy1)), (cx0 - x0, cy0 - y0))
    return to_tensor(np.asarray(window.resize((size, size), Image.BILINEAR)))


def expand(box, mx: float, my: float, width: int, height: int):
    """Grow by shares of width and height on each side, clamp to the picture."""
    w, h = box[2] - box[0], box[3] - box[1]
    return [max(0.0, box[0] - mx * w), max(0.0, box[1] - my * h),
            min(float(width), box[2] + mx * w), min(float(height), box[3] + my * h)]


def line_tensor(picture: Image.Image, box, margins=None) -> np.ndarray:
    """Text-line crop of `box`, grown by `margins` (x, y) -> float32 [1,1,32,W]."""
    rule = RULES["line"]
    mx, my = margins or (rule["marginX"], rule["marginY"])
    x0, y0, x1, y1 = expand(box, mx, my, picture.width, picture.height)
    w = int(np.clip(round((x1 - x0) * 32 / max(1.0, y1 - y0)), 8, rule["maximumWidth"]))
    small = picture.resize((w, 32), Image.BILINEAR, box=(x0, y0, x1, y1))
    grey = np.asarray(small, np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    full = max(rule["minimumWidth"], -(-w // rule["multipleOf"]) * rule["multipleOf"])
    out = np.full((32, full), PAD, np.float32)
    out[:, :w] = grey
    return out[None, None] / 255


def decode_line(log_probabilities: np.ndarray):
    """Greedy CTC of [T,C] -> text, weakest character probability, per-character probabilities."""
    best = log_probabilities.argmax(1)
    text, sure = "", []
    previous = 0
    for step, label in enumerate(best):
        p = float(np.exp(log_probabilities[step, label]))
        if label != 0:
            if label != previous:
                text += TEXT_LABELS[label]
                sure.append(p)
            else:
                sure[-1] = max(sure[-1], p)
        previous = label
    return text, min(sure, default=0.0), sure


def iou(a, b) -> float:
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    inter = w * h
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def suppress(found: list[dict], overlap: float) -> list[dict]:
    """Greedy suppression; `found` is sorted best first."""
    kept: list[dict] = []
    for item in found:
        if all(iou(item["box"], other["box"]) <= overlap for other in kept):
            kept.append(item)
    return kept


class Reader:
    """Holds the five sessions."""

    def __init__(self, models: Path = Path("models")):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        open_ = lambda *path: onnxruntime.InferenceSession(str(models.joinpath(*path)), options, providers=["CPUExecutionProvider"])
        self.locator = open_("dashboard-reader", RELEASE, "locator.onnx")
        self.elements = open_("dashboard-reader", RELEASE, "elements.onnx")
        self.lamps = open_("dashboard-reader", RELEASE, "lamps.onnx")
        self.fuel = open_("dashboard-reader", RELEASE, "fuel.onnx")
        self.text = open_("text-line", TEXT_RELEASE, "text-line.onnx")

    def read_line(self, picture: Image.Image, box, margins=None):
        """-> text, weakest character probability."""
        logp = self.text.run(None, {"images": line_tensor(picture, box, margins)})[0][0]
        text, weakest, _ = decode_line(logp)
        return text, weakest

    def read(self, picture: Image.Image) -> dict:
        """-> {dashboard, presence, cluster_bbox, cluster_lit, lit, odometer, warning_lights, fuel_level_percent, fuel_level_confidence}."""
        picture = picture.convert("RGB")
        width, height = picture.size
        image, (scale, left, top) = letterbox(picture, (0, 0, width, height), 256, 256)
        boxes, scores, lit = self.locator.run(None, {"image": image})
        presence, lit = float(scores[0]), float(lit[0])
        result = {"dashboard": presence >= THRESHOLDS["presence"], "presence": presence, "lit": lit,
                  "cluster_lit": None, "cluster_bbox": None, "odometer": None, "warning_lights": [],
                  "fuel_level_percent": None, "fuel_level_confidence": None}
        if not result["dashboard"]:
            return result
        b = boxes[0].astype(float)
        cluster = [(b[0] - left) / scale, (b[1] - top) / scale, (b[2] - left) / scale, (b[3] - top) / scale]
        cluster = expand(cluster, 0, 0, width, height)
        result["cluster_bbox"] = cluster
        result["cluster_lit"] = lit >= THRESHOLDS["lit"]
        crop = expand(cluster, RULES["clusterMargin"], RULES["clusterMargin"], width, height)
        if crop[2] - crop[0] < 16 or crop[3] - crop[1] < 16:
            return result

        image, (scale, left, top) = letterbox(picture, crop, 448, 256)
        boxes, scores, labels = self.elements.run(None, {"image": image})
        found: dict[str, list[dict]] = {"odometer": [], "fuel": [], "lamp": []}
        for box, score, label in zip(boxes, scores, labels):
            kind = ("odometer", "odometer", "fuel", "lamp")[int(label)]
            box = [(box[0] - left) / scale + crop[0], (box[1] - top) / scale + crop[1],
                   (box[2] - left) / scale + crop[0], (box[3] - top) / scale + crop[1]]
            box = expand([float(v) for v in box], 0, 0, width, height)
            if score >= THRESHOLDS[kind] and box[2] - box[0] >= 3 and box[3] - box[1] >= 3:
                found[kind].append({"box": box, "score": float(score), "label": int(label)})
        for kind in found:
            found[kind] = suppress(found[kind], RULES["overlap"])

        odometer = self.odometer(picture, found["odometer"])
        lamps = self.lamp_list(picture, found["lamp"][:RULES["maximumLamps"]])
        # A readable display or a clearly shining lamp proves power, whatever the locator thinks.
        if (odometer and odometer["display_type"] == "digital") or any(lamp["confidence"] >= THRESHOLDS["litProof"] for lamp in lamps):
            result["cluster_lit"] = True
        result["odometer"] = odometer
        # A cluster without power shows no lamps and its needles rest, so neither is reported.
        if result["cluster_lit"]:
            result["warning_lights"] = lamps
            result["fuel_level_percent"], result["fuel_level_confidence"] = self.fuel_level(picture, found["fuel"])
        return result

    def odometer(self, picture: Image.Image, candidates: list[dict]):
        """First candidate (best score first) that reads as a whole number with or without a unit.

        A box edge that cuts a digit is the commonest cause of a wrong
        reading, so each candidate is read from several crops. Every view
        whose text parses and whose weakest character reaches the threshold
        votes for its (value, unit) with that weakest probability. The
        greatest sum wins (on a tie the view that came first); the sum
        divided by the number of views is the confidence.
        """
        self.seen = []   # what was tried, for inspection
        views = RULES["odometerViews"]
        for item in candidates[:RULES["odometerCandidates"]]:
            votes: dict[tuple, float] = {}
            texts: dict[tuple, str] = {}
            for margins in views:
                text, weakest = self.read_line(picture, item["box"], margins)
                self.seen.append((item["label"], text, round(item["score"], 2), round(weakest, 2)))
                match = ODOMETER.match(text.strip())
                if not match or weakest < THRESHOLDS["character"]:
                    continue
                key = (int(re.sub(r"\D", "", match.group(1))), {"k": "km", "m": "mi"}.get((match.group(3) or "")[:1].lower()))
                votes[key] = votes.get(key, 0.0) + weakest
                texts.setdefault(key, text.strip())
            if not votes:
                continue
            key = max(votes, key=votes.get)
            confidence = votes[key] / len(views)
            if confidence < THRESHOLDS["odometerText"]:
                continue
            return {"value": key[0], "unit": key[1], "display_type": "analogue" if item["label"] == 1 else "digital", "text": texts[key],
                    "score": item["score"], "confidence": confidence, "bbox": item["box"]}
        return None

    def lamp_list(self, picture: Image.Image, candidates: list[dict]) -> list[dict]:
        if not candidates:
            return []
        batch = np.stack([square_crop(picture, c["box"], RULES["lampSide"], 48) for c in candidates])
        lamps = []
        for item, p in zip(candidates, self.lamps.run(None, {"images": batch})[0]):
            best = int(p.argmax())
            if best != 0 and p[best] >= THRESHOLDS["lampClass"]:
                lamps.append({"code": LAMP_CODES[best], "confidence": float(p[best] * item["score"]), "bbox": item["box"]})
        return lamps

    def fuel_level(self, picture: Image.Image, candidates: list[dict]):
        """Level in percent and its confidence, of the candidate that is surest to be a legible fuel gauge."""
        if not candidates:
            return None, None
        crops = [square_crop(picture, item["box"], RULES["fuelSide"], 64) for item in candidates[:RULES["fuelCandidates"]]]
        levels, confidences = self.fuel.run(None, {"images": np.stack(crops)})
        best = int(confidences.argmax())
        if confidences[best] < THRESHOLDS["fuelConfidence"]:
            return None, None
        return round(100 * float(levels[best])), float(confidences[best])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--models", type=Path, default=Path("models"))
    args = parser.parse_args()
    reader = Reader(args.models)
    for path in args.pictures:
        print(json.dumps({"file": path.name, **reader.read(Image.open(path))}))


if __name__ == "__main__":
    main()

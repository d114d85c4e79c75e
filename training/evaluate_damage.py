"""How well the network of `models/damage-finder` finds damages on photographs, and the choice of its thresholds.

    python -m training.evaluate_damage --damage FOLDER --cars FOLDER --split check
    python -m training.evaluate_damage --damage FOLDER --cars FOLDER --split tune --choose FILE

`--damage` and `--cars` are laid out as for `training.damage_data`. `--split tune` uses the pictures that neither train nor judge,
with every eighth car of `--cars` (the training part of the set); `--split check` those that judge, with every car of `--cars`
(its published test part). `--choose` searches thresholds on `tune` and writes them for `training.export_damage`. Prints each
measure with and without the rule that damage lies on a vehicle.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

from .backbone import MEAN, STD
from .damage_data import LABELS, TUNING_CARS, paint, read_cars, read_damages
from .evaluate import wilson
from .export_damage import LONGEST, MODEL, RELEASE, VEHICLE

PARTS = Path("vehicle-parts/2026-11-26/vehicle-parts.onnx")
# Of the network for parts, in pixels.
PARTS_SIDE = 256
# As in `src/endpoints/shared/damage-finder.ts`.
ON_VEHICLE, MARGIN, FILLS_PICTURE, VEHICLE_PIXELS = 0.3, 0.06, 0.8, 800
BOX_IOU = 0.3
# Largest share of undamaged pictures with an alarm that thresholds are chosen for: below the goal, for other pictures may have more.
MOST_ALARMS = 0.07
# A window of the test for windows: side and step as shares of the picture's longer side, and the labelled share that makes it damaged.
WINDOW, STEP, LEAST_DAMAGED = 0.2, 0.1, 0.05


def share_of(hits: int, number: int) -> str:
    """As a fraction, with the Wilson 95 % interval."""
    if not number:
        return "none"
    low, high = wilson(hits, number)
    return f"{hits} of {number} ({100 * hits / number:.0f} %; {100 * low:.0f} to {100 * high:.0f})"


def session_of(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options)


def tensor_of(picture: np.ndarray) -> np.ndarray:
    scaled = (picture.astype(np.float32) / 255 - np.float32(MEAN)) / np.float32(STD)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None], np.float32)


class Networks:
    def __init__(self, models: Path):
        self.damage = session_of(models / MODEL / RELEASE / "damage-finder.onnx")
        self.parts = session_of(models / PARTS)
        self.durations: list[float] = []

    def vehicles(self, picture: np.ndarray) -> list[np.ndarray]:
        """The mask [PARTS_SIDE, PARTS_SIDE] of each vehicle, largest first."""
        small = cv2.resize(picture, (PARTS_SIDE, PARTS_SIDE), interpolation=cv2.INTER_AREA)
        logits = self.parts.run(["vehicle"], {"image": tensor_of(small)})[0][0]
        probability = cv2.resize(1 / (1 + np.exp(logits[0] - logits[1])), (PARTS_SIDE, PARTS_SIDE), interpolation=cv2.INTER_LINEAR)
        count, parts, stats, _ = cv2.connectedComponentsWithStats((probability > 0.5).astype(np.uint8), connectivity=4)
        found = [parts == index for index in range(1, count) if stats[index, cv2.CC_STAT_AREA] >= VEHICLE_PIXELS]
        return sorted((each for each in found if probability[each].mean() >= VEHICLE), key=lambda each: -each.sum())

    def probabilities(self, picture: np.ndarray) -> np.ndarray:
        """Of damage, by class [1 + types, height, width]."""
        height, width = picture.shape[:2]
        scale = LONGEST / max(height, width)
        sides = [max(1, round(side * scale)) for side in (width, height)]
        small = cv2.resize(picture, sides, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        padded = [-(-side // 32) * 32 for side in sides]
        left, top = (padded[0] - sides[0]) // 2, (padded[1] - sides[1]) // 2
        canvas = np.zeros((padded[1], padded[0], 3), np.uint8)
        canvas[top : top + sides[1], left : left + sides[0]] = small
        began = time.process_time()
        logits = self.damage.run(["damage"], {"image": tensor_of(canvas)})[0][0]
        self.durations.append((time.process_time() - began) * 1000)
        large = np.stack([cv2.resize(plane, padded, interpolation=cv2.INTER_LINEAR) for plane in logits])
        large = large[:, top : top + sides[1], left : left + sides[0]]
        shares = np.exp(large - large.max(0))
        return shares / shares.sum(0)


class Seen:
    """What the networks see on a picture, before thresholds; masks at the scale of the damage network."""

    def __init__(self, networks: Networks, picture: np.ndarray, damages: list[tuple[int, np.ndarray]]):
        height, width = picture.shape[:2]
        self.vehicles = networks.vehicles(picture)
        self.window = (0, 0, width, height)
        if self.vehicles:
            ys, xs = np.nonzero(self.vehicles[0])
            x0, x1 = (edge * width / PARTS_SIDE for edge in (xs.min(), xs.max() + 1))
            y0, y1 = (edge * height / PARTS_SIDE for edge in (ys.min(), ys.max() + 1))
            if max((x1 - x0) / width, (y1 - y0) / height) < FILLS_PICTURE:
                grow_x, grow_y = MARGIN * (x1 - x0), MARGIN * (y1 - y0)
                self.window = (int(max(0, x0 - grow_x)), int(max(0, y0 - grow_y)),
                               int(min(width, np.ceil(x1 + grow_x))), int(min(height, np.ceil(y1 + grow_y))))
        x0, y0, x1, y1 = self.window
        self.shares = networks.probabilities(picture[y0:y1, x0:x1])
        self.damage = 1 - self.shares[0]
        size = self.damage.shape[::-1]
        self.scale = size[0] / (x1 - x0)
        labels = paint(damages, (width, height))
        self.truth = cv2.resize(labels[y0:y1, x0:x1], size, interpolation=cv2.INTER_NEAREST)
        # Labelled pixels that the window leaves out, which count as missed.
        self.outside = ((labels > 0).sum() - (labels[y0:y1, x0:x1] > 0).sum()) * self.scale**2
        self.boxes = [(np.concatenate([points.min(0), points.max(0)]) - (x0, y0, x0, y0)) * self.scale for _, points in damages]
        self.is_damaged = len(damages) > 0

    def on_vehicle(self, shape: tuple[int, int]) -> np.ndarray:
        """Where a vehicle is, at the scale of the damage network. `shape` (height, width) of the whole picture."""
        mask = np.zeros((PARTS_SIDE, PARTS_SIDE), np.uint8)
        for part in self.vehicles:
            mask |= part.astype(np.uint8)
        x0, y0, x1, y1 = self.window
        whole = cv2.resize(mask, shape[::-1], interpolation=cv2.INTER_NEAREST)
        return cv2.resize(whole[y0:y1, x0:x1], self.damage.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0


def regions(seen: Seen, settings: dict, shape: tuple[int, int], gates: bool) -> list[dict]:
    count, parts, stats, _ = cv2.connectedComponentsWithStats((seen.damage >= settings["joined"]).astype(np.uint8), connectivity=4)
    vehicle = None
    if gates:
        vehicle = seen.on_vehicle(shape)
    found = []
    for index in range(1, count):
        x, y, w, h, area = stats[index]
        if area < settings["minimumPixels"]:
            continue
        mask = parts == index
        score = float(seen.damage[mask].mean())
        if score < settings["score"] or (vehicle is not None and vehicle[mask].mean() < ON_VEHICLE):
            continue
        kind = int(seen.shares[1:, mask].sum(1).argmax()) + 1
        found.append({"mask": mask, "score": score, "kind": kind, "box": np.array([x, y, x + w, y + h], float)})
    return sorted(found, key=lambda each: -each["score"])


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    inside = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None).prod()
    return float(inside / max((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - inside, 1e-9))


def matches(found: list[np.ndarray], truth: list[np.ndarray]) -> list[bool]:
    """Whether each found box, best first, is the first on a labelled one."""
    free, right = [*truth], []
    for box in found:
        best = max(free, key=lambda each: overlap(box, each), default=None)
        right.append(best is not None and overlap(box, best) >= BOX_IOU)
        if right[-1]:
            free = [each for each in free if each is not best]
    return right


def merged_boxes(truth: np.ndarray) -> list[np.ndarray]:
    """Boxes of labels that touch as one."""
    count, _, stats, _ = cv2.connectedComponentsWithStats((truth > 0).astype(np.uint8), connectivity=8)
    return [np.array([x, y, x + w, y + h], float) for x, y, w, h, _ in stats[1:count]]


def measures(pictures: list[tuple[Seen, tuple[int, int]]], settings: dict, gates: bool) -> dict:
    counts = {key: 0 for key in ("damaged", "seen", "hit", "undamaged", "alarms", "found", "right", "labels", "right_merged", "merged", "typed", "types_right")}
    both = either = 0.0
    calibration: list[tuple[float, bool]] = []
    for seen, shape in pictures:
        found = regions(seen, settings, shape, gates)
        if not seen.is_damaged:
            counts["undamaged"] += 1
            counts["alarms"] += len(found) > 0
            calibration += [(each["score"], False) for each in found]
            continue
        counts["damaged"] += 1
        counts["seen"] += len(found) > 0
        truth = seen.truth > 0
        union = np.any([each["mask"] for each in found], 0) if found else np.zeros_like(truth)
        counts["hit"] += bool((union & truth).any())
        both += (union & truth).sum() / truth.size
        either += ((union | truth).sum() + seen.outside) / truth.size
        boxes = [each["box"] for each in found]
        right, merged = matches(boxes, seen.boxes), matches(boxes, merged_boxes(seen.truth))
        counts["found"] += len(found)
        counts["right"] += sum(right)
        counts["labels"] += len(seen.boxes)
        counts["right_merged"] += sum(merged)
        counts["merged"] += len(merged_boxes(seen.truth))
        calibration += [(each["score"], bool((each["mask"] & truth).sum() >= 0.3 * each["mask"].sum())) for each in found]
        for each in found:
            kinds = seen.truth[each["mask"]]
            kinds = kinds[(kinds == 1) | (kinds == 2)]
            if len(kinds):
                counts["typed"] += 1
                counts["types_right"] += int(np.bincount(kinds).argmax() == each["kind"])
    f1 = 2 * counts["right"] / max(1, counts["found"] + counts["labels"])
    f1_merged = 2 * counts["right_merged"] / max(1, counts["found"] + counts["merged"])
    return {**counts, "iou": both / max(either, 1e-9), "f1": f1, "f1_merged": f1_merged, "calibration": calibration}


def windows(pictures: list[tuple[Seen, tuple[int, int]]]) -> tuple[list[float], list[float]]:
    """Scores of damaged and of undamaged windows of the damaged photographs; an undamaged one lies on the vehicle."""
    damaged, undamaged = [], []
    for seen, shape in pictures:
        if not seen.is_damaged:
            continue
        height, width = seen.damage.shape
        side, step = (max(8, round(share * max(height, width))) for share in (WINDOW, STEP))
        vehicle = seen.on_vehicle(shape)
        for y, x in itertools.product(range(0, height - side + 1, step), range(0, width - side + 1, step)):
            at = np.s_[y : y + side, x : x + side]
            labelled = (seen.truth[at] > 0).mean()
            score = float(np.sort(seen.damage[at], axis=None)[-max(1, side * side // 20) :].mean())
            if labelled >= LEAST_DAMAGED:
                damaged.append(score)
            elif labelled == 0 and vehicle[at].mean() >= 0.5:
                undamaged.append(score)
    return damaged, undamaged


def area_under_curve(positive: list[float], negative: list[float]) -> float:
    """Chance that a damaged window scores higher than an undamaged one; ties count half."""
    order = np.sort(negative)
    below = np.searchsorted(order, positive, "left")
    equal = np.searchsorted(order, positive, "right") - below
    return float((below + equal / 2).sum() / (len(positive) * len(negative)))


def choose(pictures: list[tuple[Seen, tuple[int, int]]]) -> dict:
    """The thresholds with the best sum of box F1, pixel IoU and share seen, with alarms on at most `MOST_ALARMS`."""
    best, found = -1.0, {}
    for joined, score, pixels in itertools.product((0.3, 0.4, 0.5, 0.6), np.arange(0.5, 0.86, 0.02).round(2).tolist(), (60, 150, 300)):
        settings = {"joined": joined, "score": score, "minimumPixels": pixels}
        if score < joined:
            continue
        got = measures(pictures, settings, True)
        alarms = got["alarms"] / max(1, got["undamaged"])
        value = got["f1"] + got["iou"] + got["hit"] / max(1, got["damaged"]) - 10 * max(0, alarms - MOST_ALARMS)
        if value > best:
            best, found = value, settings
    return {**found, **calibrate(measures(pictures, found, True)["calibration"])}


def calibrate(pairs: list[tuple[float, bool]]) -> dict:
    """A line between log-odds (Platt, 1999), by Newton's method; targets are smoothed as there, and the slope stays positive."""
    scores = np.clip(np.array([score for score, _ in pairs]), 1e-4, 1 - 1e-4)
    x = np.log(scores / (1 - scores))
    right = np.array([is_right for _, is_right in pairs])
    positive, negative = right.sum(), (~right).sum()
    target = np.where(right, (positive + 1) / (positive + 2), 1 / (negative + 2))
    slope, offset = 1.0, 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-(slope * x + offset)))
        weight = np.maximum(p * (1 - p), 1e-6)
        # A light pull towards a slope of one: there are few pairs.
        gradient = np.array([((p - target) * x).sum() + 0.5 * (slope - 1), (p - target).sum()])
        hessian = np.array([[(weight * x * x).sum() + 0.5, (weight * x).sum()], [(weight * x).sum(), weight.sum() + 1e-6]])
        slope, offset = np.array([slope, offset]) - np.linalg.solve(hessian, gradient)
    return {"slope": round(float(max(slope, 0.1)), 3), "offset": round(float(offset), 3)}


def expected_error(pairs: list[tuple[float, bool]], slope: float, offset: float) -> float:
    """Mean difference between stated confidence and share that is right, over five groups of equal size."""
    if not pairs:
        return 0.0
    stated = sorted((1 / (1 + np.exp(-(slope * np.log(s / (1 - s)) + offset))), right) for s, right in ((min(max(s, 1e-4), 1 - 1e-4), r) for s, r in pairs))
    groups = np.array_split(np.array(stated, float), 5)
    return float(sum(len(group) * abs(group[:, 0].mean() - group[:, 1].mean()) for group in groups if len(group)) / len(stated))


def settings_of(models: Path) -> dict:
    described = json.loads((models / MODEL / RELEASE / "model.json").read_text())
    decoder = described["files"]["detector"]["decoder"]
    return {**{key: decoder[key] for key in ("joined", "score", "minimumPixels")}, **described["rules"]["confidence"]}


def show(got: dict, settings: dict) -> None:
    share = lambda part, whole: share_of(got[part], got[whole])
    rows = {
        "damaged pictures with a damage reported": share("seen", "damaged"),
        "damaged pictures with a reported damage on a labelled one": share("hit", "damaged"),
        "alarms on undamaged pictures": share("alarms", "undamaged"),
        f"box F1 at IoU {BOX_IOU}, labels as they are": f"{got['f1']:.3f}",
        f"box F1 at IoU {BOX_IOU}, touching labels as one": f"{got['f1_merged']:.3f}",
        "pixel IoU": f"{got['iou']:.3f}",
        "scratch or dent right": share("types_right", "typed"),
        "error of stated confidences": f"{expected_error(got['calibration'], settings['slope'], settings['offset']):.3f} of {len(got['calibration'])}",
    }
    for name, text in rows.items():
        print(f"  {name:58} {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damage", type=Path, required=True)
    parser.add_argument("--cars", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--split", choices=["tune", "check"], required=True)
    parser.add_argument("--choose", type=Path)
    args = parser.parse_args()
    if args.choose and args.split != "tune":
        raise SystemExit("thresholds are chosen on the pictures that tune")
    cv2.setNumThreads(1)
    listed = set(json.loads(LABELS.read_text())[args.split])
    networks = Networks(args.models)
    damages = [each for each in read_damages(args.damage) if each["split"] == args.split]
    if not all(set(each["names"]) <= listed for each in damages):
        raise SystemExit(f"{LABELS} names other pictures")
    look = lambda picture, truth: (Seen(networks, picture, truth), picture.shape[:2])
    close = [look(each["picture"], each["damages"]) for each in damages]
    cars = [look(picture, []) for index, (_, picture, _, _) in enumerate(read_cars(args.cars)) if args.split == "check" or index % TUNING_CARS == 0]
    settings = choose(close + cars) if args.choose else settings_of(args.models)
    if args.choose:
        args.choose.write_text(json.dumps(settings, indent=2) + "\n")
    print(json.dumps(settings))
    for name, gates in (("network alone", False), ("damage lies on a vehicle", True)):
        print(f"{name}:")
        show(measures(close, settings, gates), settings)
        only = measures(cars, settings, gates)
        print(f"  {'alarms on whole undamaged cars':58} {share_of(only['alarms'], only['undamaged'])}")
    positive, negative = windows(close)
    print(f"{'AUC of damaged against undamaged windows':60} {area_under_curve(positive, negative):.3f} of {len(positive)} and {len(negative)}")
    print(f"{'milliseconds of one core a picture, median':60} {np.median(networks.durations):.0f}")


if __name__ == "__main__":
    main()

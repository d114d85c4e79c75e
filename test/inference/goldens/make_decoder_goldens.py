"""Computes `decoders.json`: what the decoders of `src/inference/toolkit/decoding/` are held to.

    python test/inference/goldens/make_decoder_goldens.py > test/inference/goldens/decoders.json
    npx biome format --write test/inference/goldens

Needs numpy, onnx (its reference of NonMaxSuppression), opencv-python-headless and shapely. Run from the top of the
repository. Nothing of the TypeScript is repeated here: suppression is ONNX's, masks, regions, rectangles and scaling are
OpenCV's, outlines and turned boxes are shapely's.
"""

from __future__ import annotations

import base64
import json
import sys

import cv2
import numpy as np
import shapely
import shapely.affinity
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

RANDOM = np.random.default_rng(20261121)
SIZE = 64


def as_tensor(array: np.ndarray) -> dict:
    return {"shape": list(array.shape), "data": base64.b64encode(array.astype("<f4").tobytes()).decode()}


def numbers(values) -> list[float]:
    return [round(float(value), 4) for value in values]


def onnx_suppression(boxes: np.ndarray, scores: np.ndarray, overlap: float, score: float) -> list[tuple[int, int]]:
    """boxes [N, 4] corners, scores [C, N] -> (class, box) of what ONNX's NonMaxSuppression keeps, class by class."""
    inputs = [("boxes", TensorProto.FLOAT), ("scores", TensorProto.FLOAT), ("most", TensorProto.INT64),
              ("iou", TensorProto.FLOAT), ("least", TensorProto.FLOAT)]
    node = helper.make_node("NonMaxSuppression", [name for name, _ in inputs], ["kept"])
    graph = helper.make_graph([node], "suppression",
                              [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs],
                              [helper.make_tensor_value_info("kept", TensorProto.INT64, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (kept,) = ReferenceEvaluator(model).run(None, {
        "boxes": boxes[None].astype(np.float32), "scores": scores[None].astype(np.float32),
        "most": np.array([1000], np.int64), "iou": np.array([overlap], np.float32),
        "least": np.array([score], np.float32)})
    return [(int(label), int(box)) for _, label, box in kept]


def crowd(count: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of centre and size [4, count], in clusters that overlap, and scores [classes, count]."""
    middles = RANDOM.uniform(10, SIZE - 10, size=(6, 2))[RANDOM.integers(0, 6, count)]
    rows = np.concatenate([(middles + RANDOM.normal(0, 2, (count, 2))).T, RANDOM.uniform(8, 18, (2, count))])
    return rows.astype(np.float32), RANDOM.uniform(0, 1, (classes, count)).astype(np.float32) ** 2


def corners_of(rows: np.ndarray) -> np.ndarray:
    x, y, width, height = rows
    return np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], 1)


def best_class_only(scores: np.ndarray) -> np.ndarray:
    best = scores.argmax(0)
    return np.where(np.arange(len(scores))[:, None] == best, scores, 0)


def kept_of(rows: np.ndarray, scores: np.ndarray, settings: dict) -> list[tuple[int, int]]:
    kept = onnx_suppression(corners_of(rows), best_class_only(scores), settings["overlap"], settings["score"])
    return sorted(kept, key=lambda each: -scores[each])[: settings["maximum"]]


def found(kept, rows, scores) -> list[dict]:
    boxes = corners_of(rows)
    return [{"classIndex": label, "score": float(scores[label, box]), "box": numbers(boxes[box])} for label, box in kept]


def yolo_detection() -> dict:
    rows, scores = crowd(80, 3)
    settings = {"score": 0.3, "overlap": 0.4, "maximum": 15}
    return {"output": as_tensor(np.concatenate([rows, scores])[None]), "classes": 3, "settings": settings,
            "found": found(kept_of(rows, scores, settings), rows, scores)}


def yolo_segmentation() -> dict:
    rows, scores = crowd(24, 2)
    coefficients = RANDOM.normal(0, 1, (4, 24)).astype(np.float32)
    noise = RANDOM.normal(0, 1, (4, 16, 16)).astype(np.float32)
    prototypes = np.stack([cv2.GaussianBlur(plane, (0, 0), 2.5) * 4 for plane in noise])
    settings = {"score": 0.3, "overlap": 0.5, "maximum": 10}
    kept = kept_of(rows, scores, settings)
    things = []
    for label, box in kept:
        mask = np.tensordot(coefficients[:, box], prototypes, 1)
        large = cv2.resize(mask.astype(np.float32), (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
        x0, y0, x1, y1 = corners_of(rows)[box]
        row, column = np.mgrid[0:SIZE, 0:SIZE]
        large = ((large > 0) & (column >= x0) & (column < x1) & (row >= y0) & (row < y1)).astype(np.uint8)
        count, regions, statistics, _ = cv2.connectedComponentsWithStats(large, connectivity=4)
        if count == 1:
            continue
        largest = 1 + int(statistics[1:, cv2.CC_STAT_AREA].argmax())
        things.append({"classIndex": label, "pixels": filled(regions == largest)})
    return {"output": as_tensor(np.concatenate([rows, scores, coefficients])[None]),
            "prototypes": as_tensor(prototypes[None]), "classes": 2, "size": SIZE, "settings": settings, "things": things}


def filled(mask: np.ndarray) -> str:
    """A mask without its holes, bit by bit."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    canvas = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(canvas, contours, -1, 1, cv2.FILLED)
    return base64.b64encode(np.packbits(canvas).tobytes()).decode()


def yolo_obb() -> dict:
    rows, scores = crowd(40, 2)
    angles = RANDOM.uniform(-0.7, 0.7, 40).astype(np.float32)
    # Nothing is suppressed: how Ultralytics compares turned boxes is held to its own package, by make_export_goldens.py.
    settings = {"score": 0.2, "overlap": 1, "maximum": 40}
    shapes = []
    for (x, y, width, height), angle in zip(rows.T, angles):
        upright = shapely.box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        shapes.append(shapely.affinity.rotate(upright, angle, origin="center", use_radians=True))
    best = scores.argmax(0)
    kept = [(int(best[box]), int(box)) for box in np.argsort(-scores.max(0)) if scores[best[box], box] >= settings["score"]]
    things = [{"classIndex": label, "score": float(scores[label, box]), "bounds": numbers(shapes[box].bounds),
               "corners": sorted([numbers(point) for point in list(shapes[box].exterior.coords)[:4]])}
              for label, box in kept]
    return {"output": as_tensor(np.concatenate([rows, scores, angles[None]])[None]), "classes": 2, "settings": settings,
            "things": things}


def detr() -> dict:
    boxes = RANDOM.uniform(0.2, 0.8, (20, 4)).astype(np.float32)
    logits = RANDOM.normal(-1, 2, (20, 3)).astype(np.float32)
    settings = {"score": 0.4, "maximum": 12}
    probabilities = 1 / (1 + np.exp(-logits.astype(np.float64)))
    places = np.argsort(-probabilities.ravel())[: settings["maximum"]]
    queries, labels = np.unravel_index(places, probabilities.shape)
    things = [{"classIndex": int(label), "score": float(probabilities[query, label]),
               "box": numbers(corners_of((boxes[query] * [80, 48, 80, 48])[:, None])[0])}
              for query, label in zip(queries, labels) if probabilities[query, label] >= settings["score"]]
    return {"boxes": as_tensor(boxes[None]), "logits": as_tensor(logits[None]), "width": 80, "height": 48,
            "settings": settings, "found": things}


def semantic_segmentation() -> dict:
    noise = RANDOM.normal(0, 1, (3, 12, 12)).astype(np.float32)
    logits = np.stack([cv2.GaussianBlur(plane, (0, 0), 1.5) * 8 for plane in noise])
    large = np.stack([cv2.resize(plane, (48, 36), interpolation=cv2.INTER_LINEAR) for plane in logits])
    powers = np.exp(large - large.max(0))
    probabilities = powers.max(0) / powers.sum(0)
    settings = {"score": 0.5, "minimumPixels": 20}
    things = []
    for label in (1, 2):
        mask = (large.argmax(0) == label).astype(np.uint8)
        count, regions, statistics, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
        for region in range(1, count):
            x, y, width, height, area = (int(value) for value in statistics[region])
            score = float(probabilities[regions == region].mean())
            if area >= settings["minimumPixels"] and score >= settings["score"]:
                things.append({"classIndex": label, "score": score, "box": [x, y, x + width, y + height]})
    things.sort(key=lambda thing: -thing["score"])
    return {"logits": as_tensor(logits[None]), "width": 48, "height": 36, "settings": settings, "found": things}


def db_text() -> dict:
    probabilities = np.full((80, 120), 0.02, np.float32)
    for middle, size, angle, value in (((40, 20), (50, 12), 8, 0.9), ((85, 55), (40, 10), -20, 0.8),
                                       ((25, 60), (24, 9), 0, 0.75), ((100, 15), (20, 8), 5, 0.4), ((60, 75), (2, 2), 0, 0.9)):
        corners = cv2.boxPoints((middle, size, angle)).round().astype(np.int32)
        cv2.fillPoly(probabilities, [corners], float(value))
    levels = np.round(probabilities * 255).astype(np.uint8)
    probabilities = levels.astype(np.float32) / 255
    settings = {"threshold": 0.3, "score": 0.6, "unclip": 1.5}
    contours, _ = cv2.findContours((probabilities > settings["threshold"]).astype(np.uint8), cv2.RETR_LIST,
                                   cv2.CHAIN_APPROX_SIMPLE)
    things = []
    for contour in contours:
        rectangle = cv2.minAreaRect(contour)
        if min(rectangle[1]) < 3:
            continue
        mask = np.zeros(probabilities.shape, np.uint8)
        cv2.fillPoly(mask, [contour], 1)
        score = cv2.mean(probabilities, mask)[0]
        if score < settings["score"]:
            continue
        shape = shapely.Polygon(cv2.boxPoints(rectangle))
        grown = shape.buffer(shape.area * settings["unclip"] / shape.length, quad_segs=64)
        corners = cv2.boxPoints(cv2.minAreaRect(np.array(grown.exterior.coords, np.float32)))
        left, right = np.split(corners[np.argsort(corners[:, 0])], 2)
        (top_left, bottom_left), (top_right, bottom_right) = (side[np.argsort(side[:, 1])] for side in (left, right))
        things.append({"score": float(score),
                       "corners": [numbers(point) for point in (top_left, top_right, bottom_right, bottom_left)]})
    things.sort(key=lambda thing: -thing["score"])
    return {"width": 120, "height": 80, "levels": base64.b64encode(levels.tobytes()).decode(), "settings": settings, "found": things}


def outlines() -> dict:
    """A blob with a hole and a bay: its edge, and what is left of it within a tolerance."""
    noise = cv2.GaussianBlur(RANDOM.normal(0, 1, (40, 40)).astype(np.float32), (0, 0), 3)
    blob = (noise > 0).astype(np.uint8)
    count, regions, statistics, _ = cv2.connectedComponentsWithStats(blob, connectivity=4)
    mask = (regions == 1 + int(statistics[1:, cv2.CC_STAT_AREA].argmax())).astype(np.uint8)
    row, column = (int(value) for value in np.argwhere(cv2.erode(mask, np.ones((5, 5), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0))[0])
    mask[row, column] = 0
    squares = shapely.union_all([shapely.box(x, y, x + 1, y + 1) for y, x in np.argwhere(mask)])
    ring = shapely.LineString(shapely.Polygon(squares.exterior).simplify(0).exterior.coords)
    first_row = int(np.argwhere(mask)[0][0])
    start = (int(np.argwhere(mask)[0][1]), first_row)
    points = [(int(x), int(y)) for x, y in ring.coords[:-1]]
    if shapely.LinearRing(points).is_ccw is True:
        points.reverse()
    place = points.index(start)
    points = points[place:] + points[:place]
    if points[1][1] != start[1]:
        points = [points[0], *reversed(points[1:])]
    simplified = shapely.LineString([*points, points[0]]).simplify(1.0, preserve_topology=False)
    return {"width": 40, "height": 40, "mask": base64.b64encode(np.packbits(mask).tobytes()).decode(),
            "outline": points, "tolerance": 1, "simplified": [[int(x), int(y)] for x, y in simplified.coords[:-1]]}


def classification() -> dict:
    logits = RANDOM.normal(0, 3, 7)
    powers = np.exp(logits - logits.max())
    return {"logits": list(map(float, logits)), "softmax": list(map(float, powers / powers.sum())),
            "sigmoid": list(map(float, 1 / (1 + np.exp(-logits))))}


def mattes() -> dict:
    """An alpha in the part of a picture from (5, 3) to (45, 27), scaled as OpenCV scales it."""
    alpha = np.clip(cv2.GaussianBlur(RANDOM.normal(0.5, 1, (12, 16)).astype(np.float32), (0, 0), 1), 0, 1)
    large = cv2.resize(alpha, (40, 24), interpolation=cv2.INTER_LINEAR)
    matte = np.zeros((30, 50), np.uint8)
    matte[3:27, 5:45] = np.floor(large * 255 + 0.5).astype(np.uint8)
    return {"alpha": as_tensor(alpha[None, None]), "part": {"x0": 5, "y0": 3, "x1": 45, "y1": 27}, "width": 50,
            "height": 30, "matte": base64.b64encode(matte.tobytes()).decode()}


def rectification() -> dict:
    """The picture of make_goldens.py, a quadrilateral of it drawn out. OpenCV puts pixels at whole numbers."""
    y, x = np.mgrid[0:61, 0:97]
    picture = np.stack([(x * 2 + y * 3 + channel * 61) % 256 for channel in range(3)], -1).astype(np.uint8)
    picture = cv2.GaussianBlur(picture, (0, 0), 2)
    corners = np.array([[20.5, 12], [80, 6.25], [84.5, 30], [18, 41.5]], np.float32)
    width, height = 48, 16
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners - 0.5, target - 0.5)
    straight = cv2.warpPerspective(picture.astype(np.float32), matrix, (width, height), flags=cv2.INTER_LINEAR,
                                   borderMode=cv2.BORDER_REPLICATE)
    return {"picture": base64.b64encode(picture.tobytes()).decode(), "pictureWidth": 97, "pictureHeight": 61,
            "corners": corners.tolist(), "width": width, "height": height,
            "pixels": base64.b64encode(straight.round().astype(np.uint8).tobytes()).decode()}


if __name__ == "__main__":
    json.dump({"yoloDetection": yolo_detection(), "yoloSegmentation": yolo_segmentation(), "yoloObb": yolo_obb(),
               "detr": detr(), "semanticSegmentation": semantic_segmentation(), "dbText": db_text(),
               "outlines": outlines(), "classification": classification(), "mattes": mattes(),
               "rectification": rectification()}, sys.stdout, indent=1)
    print()

"""What a camera does to a scene: perspective, glare, blur, noise, exposure, JPEG."""

from __future__ import annotations

import io
import math

import cv2
import numpy as np
from PIL import Image


def placement(rng: np.random.Generator, canvas: tuple[int, int], picture: tuple[int, int], share: float, tilt: float = 1.0) -> np.ndarray:
    """Homography canvas (w,h) -> picture (w,h); the cluster takes `share` of the picture's width."""
    cw, ch = canvas
    pw, ph = picture
    w = pw * share
    h = w * ch / cw * rng.uniform(0.93, 1.07)
    if h > ph * 1.0:
        w, h = w * ph / h, ph
    angle = math.radians(float(np.clip(rng.normal(0, 2.8), -8, 8)) * tilt)
    corners = np.array([[-w / 2, -h / 2], [w / 2, -h / 2], [w / 2, h / 2], [-w / 2, h / 2]])
    corners[:, 0] *= 1 + corners[:, 1] / h * rng.normal(0, 0.06) * tilt
    corners[:, 1] *= 1 + corners[:, 0] / w * rng.normal(0, 0.07) * tilt
    corners[:, 0] += corners[:, 1] * rng.normal(0, 0.03) * tilt
    rot = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    corners = corners @ rot.T
    lo, hi = corners.min(0), corners.max(0)
    grow = max(1.0, (hi[0] - lo[0]) / pw, (hi[1] - lo[1]) / ph)
    corners, lo, hi = corners / grow, lo / grow, hi / grow
    room = np.array([pw - (hi[0] - lo[0]), ph - (hi[1] - lo[1])])
    where = np.clip(rng.normal(0.5, 0.22, 2), 0, 1) * room - lo
    target = (corners + where).astype(np.float32)
    source = np.float32([[0, 0], [cw, 0], [cw, ch], [0, ch]])
    return cv2.getPerspectiveTransform(source, target)


def map_box(matrix: np.ndarray, box) -> tuple[float, float, float, float]:
    """xyxy in canvas pixels -> upright xyxy in picture pixels."""
    x0, y0, x1, y1 = box
    points = np.float32([[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]])
    out = cv2.perspectiveTransform(points, matrix)[0]
    return float(out[:, 0].min()), float(out[:, 1].min()), float(out[:, 0].max()), float(out[:, 1].max())


def paste(background: np.ndarray, foreground: np.ndarray, mask: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Warp `foreground` [h,w,3] with its mask onto `background` [H,W,3], shrinking first so that nothing aliases."""
    h, w = mask.shape
    size = (background.shape[1], background.shape[0])
    corners = cv2.perspectiveTransform(np.float32([[[0, 0], [w, 0], [w, h], [0, h]]]), matrix)[0]
    factor = min(1.0, max(np.linalg.norm(corners[1] - corners[0]), np.linalg.norm(corners[2] - corners[3])) / w * 1.15)
    if factor < 0.95:
        sw, sh = max(8, int(w * factor)), max(8, int(h * factor))
        foreground = cv2.resize(foreground, (sw, sh), interpolation=cv2.INTER_AREA)
        mask = cv2.resize(mask, (sw, sh), interpolation=cv2.INTER_AREA)
        matrix = matrix @ np.diag([w / sw, h / sh, 1.0])
    warped = cv2.warpPerspective(foreground, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpPerspective(mask, matrix, size, flags=cv2.INTER_LINEAR).astype(np.float32)[..., None] / 255
    return background * (1 - alpha) + warped * alpha


def glare(rng: np.random.Generator, picture: np.ndarray, strength: float, held: bool) -> np.ndarray:
    """Soft reflections: ellipses and slanted bands; held-out ones are polygons with soft rims."""
    h, w = picture.shape[:2]
    sh, sw = max(8, h // 8), max(8, w // 8)
    layer = np.zeros((sh, sw), np.float32)
    for _ in range(int(rng.integers(1, 4))):
        a = rng.uniform(0.2, 1.0)
        cx, cy = rng.uniform(0, sw), rng.uniform(0, sh)
        if held:
            pts = (np.array([[cx, cy]]) + rng.normal(0, 1, (5, 2)) * [sw * 0.18, sh * 0.14]).astype(np.int32)
            cv2.fillConvexPoly(layer, cv2.convexHull(pts), float(a))
        elif rng.random() < 0.5:
            cv2.ellipse(layer, (int(cx), int(cy)), (int(rng.uniform(0.03, 0.25) * sw) + 1, int(rng.uniform(0.03, 0.2) * sh) + 1), rng.uniform(0, 180), 0, 360, float(a), -1)
        else:
            t = rng.uniform(-1, 1) * sw
            cv2.line(layer, (int(cx), 0), (int(cx + t), sh), float(a), int(rng.uniform(0.02, 0.12) * sw) + 1)
    layer = cv2.GaussianBlur(layer, (0, 0), rng.uniform(0.01, 0.06) * sw + 0.3)
    colour = np.array([1.0, rng.uniform(0.9, 1.0), rng.uniform(0.8, 1.0)], np.float32)
    return picture + cv2.resize(layer, (w, h))[..., None] * strength * colour


def camera(rng: np.random.Generator, picture: np.ndarray, line_height: float | None, night: bool, held: bool, hard: float = 1.0) -> tuple[np.ndarray, int]:
    """float [H,W,3] 0.. -> (uint8 [H,W,3], JPEG quality). Blur is bounded by the smallest line that must stay readable."""
    h, w = picture.shape[:2]
    limit = 0.07 * (line_height or 40)
    picture = picture.astype(np.float32)
    if rng.random() < 0.35:
        picture = glare(rng, picture, rng.uniform(0.05, 0.28) * hard, held)
    gain = rng.uniform(0.75, 1.25)
    cast = np.clip(rng.normal(1, 0.05, 3), 0.85, 1.15).astype(np.float32)
    picture = np.clip(picture * gain * cast, 0, 1.6)
    gamma = rng.uniform(0.75, 1.25) if not night else rng.uniform(0.6, 1.05)
    picture = picture ** np.float32(gamma)
    if rng.random() < 0.4:
        yy, xx = np.mgrid[-1:1:h * 1j, -1:1:w * 1j].astype(np.float32)
        picture *= (1 - rng.uniform(0.1, 0.5) * (xx * xx + yy * yy) / 2)[..., None]
    if rng.random() < 0.2:
        lift = rng.uniform(0.02, 0.12)
        picture = picture * (1 - lift) + lift
    roll = rng.random()
    if roll < 0.55:
        sigma = min(limit, abs(rng.normal(0, 0.9)) * w / 1000) * hard
        if sigma > 0.25:
            picture = cv2.GaussianBlur(picture, (0, 0), sigma)
    elif roll < 0.68:
        n = int(min(limit * 2.5, rng.uniform(2, 8) * w / 1000))
        if n >= 2:
            kernel = np.zeros((2 * n + 1, 2 * n + 1), np.float32)
            a = rng.uniform(0, math.pi)
            cv2.line(kernel, (int(n - n / 2 * math.cos(a)), int(n - n / 2 * math.sin(a))), (int(n + n / 2 * math.cos(a)), int(n + n / 2 * math.sin(a))), 1.0, 1)
            picture = cv2.filter2D(picture, -1, kernel / kernel.sum())
    noise = abs(rng.normal(0, 0.02)) * (1.5 if night else 1.0) * hard
    if noise > 0.003:
        field = rng.standard_normal((h, w, 3), dtype=np.float32) if rng.random() < 0.6 else rng.standard_normal((h, w, 1), dtype=np.float32)
        if rng.random() < 0.3:
            field = cv2.GaussianBlur(field, (0, 0), 0.8).reshape(h, w, -1) * 1.6
        picture = picture + field * noise * (0.5 + np.sqrt(np.clip(picture, 0, 1)))
    if rng.random() < 0.25:   # in-camera sharpening
        picture = picture + (picture - cv2.GaussianBlur(picture, (0, 0), 1.5)) * rng.uniform(0.3, 1.0)
    out = (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)
    return out, int(rng.integers(45, 96))


def jpeg(pixels: np.ndarray, quality: int) -> np.ndarray:
    """One round through the JPEG coder."""
    ok, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]


def jpeg_bytes(pixels: np.ndarray, quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()

"""Writes `encoder-files.json`: small files as encoders write them that a cluster is likely to use, without metadata.

    python -m pip install pillow==13.0.0 opencv-python-headless==5.0.0.93 av==18.1.0 reportlab==5.1.0 pikepdf==10.17.0 numpy
    python test/artefacts/inspection/make_encoder_files.py

Run from the top of the repository.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pikepdf
from PIL import Image
from reportlab.pdfgen import canvas

FILE = Path(__file__).parent / "encoder-files.json"
WIDTH, HEIGHT = 11, 7
# Those that compress video take even sides, and some no less than this.
FILM_WIDTH, FILM_HEIGHT = 64, 48
Named = Iterator[tuple[str, bytes]]


def ramps(width: int, height: int) -> np.ndarray:
    """[height, width, 3]: smooth, every corner another colour."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [x * 255 / width, y * 255 / height, (x + y) * 255 / (width + height)]
    return np.stack(planes, -1).astype(np.uint8)


def saved(image: Image.Image, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def by_pillow() -> Named:
    rgb = Image.fromarray(ramps(WIDTH, HEIGHT))
    rgba = rgb.copy()
    rgba.putalpha(rgb.convert("L"))
    deep = Image.fromarray(ramps(WIDTH, HEIGHT)[..., 0].astype(np.uint16) * 256)
    flags = [False, True]
    for mode, progressive, optimize in itertools.product(["RGB", "L", "CMYK"], flags, flags):
        name = f"pillow {mode} progressive={progressive} optimize={optimize}.jpg"
        yield name, saved(rgb.convert(mode), "JPEG", progressive=progressive, optimize=optimize)
    for subsampling in [0, 1, 2]:
        yield f"pillow subsampling={subsampling}.jpg", saved(rgb, "JPEG", subsampling=subsampling)
    yield "pillow dpi restarts.jpg", saved(rgb, "JPEG", dpi=(300, 300), restart_marker_blocks=1)
    pictures = {mode: rgba.convert(mode) for mode in ["RGB", "RGBA", "L", "LA", "P", "1"]} | {"I;16": deep}
    for (mode, image), dpi in itertools.product(pictures.items(), [None, (300, 300)]):
        yield f"pillow {mode} dpi={dpi}.png", saved(image, "PNG", dpi=dpi)
    yield "pillow transparency.png", saved(rgb.quantize(5), "PNG", transparency=3)
    for mode, lossless, method in itertools.product(["RGB", "RGBA"], flags, [0, 6]):
        yield f"pillow {mode} lossless={lossless} method={method}.webp", saved(
            rgba.convert(mode), "WEBP", lossless=lossless, method=method
        )
    for image in [rgb, rgba]:
        frames = {"save_all": True, "append_images": [image.rotate(90), image.rotate(180)], "duration": 50}
        yield f"pillow moving {image.mode}.webp", saved(image, "WEBP", **frames)
    yield "pillow.pdf", saved(rgb, "PDF")


def by_opencv() -> Named:
    bgr = ramps(WIDTH, HEIGHT)[..., ::-1]
    bgra = np.dstack([bgr, bgr[..., 0]])
    for name, image, options in [
        ("bgr.jpg", bgr, []),
        ("grey.jpg", bgr[..., 0], []),
        ("progressive.jpg", bgr, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_OPTIMIZE, 1]),
        ("restarts.jpg", bgr, [cv2.IMWRITE_JPEG_RST_INTERVAL, 1]),
        ("bgr.png", bgr, []),
        ("bgra.png", bgra, [cv2.IMWRITE_PNG_COMPRESSION, 9]),
        ("grey.png", bgr[..., 0], []),
        ("deep.png", bgr.astype(np.uint16) * 200, []),
        ("bgr.webp", bgr, [cv2.IMWRITE_WEBP_QUALITY, 80]),
        ("bgra.webp", bgra, [cv2.IMWRITE_WEBP_QUALITY, 80]),
        ("lossless.webp", bgra, [cv2.IMWRITE_WEBP_QUALITY, 101]),
    ]:
        yield f"opencv {name}", cv2.imencode(Path(name).suffix, image, options)[1].tobytes()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "film.mp4")
        writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"mp4v"), 10, (FILM_WIDTH, FILM_HEIGHT))
        for _ in range(3):
            writer.write(ramps(FILM_WIDTH, FILM_HEIGHT))
        writer.release()
        yield "opencv mp4v.mp4", Path(path).read_bytes()


def by_ffmpeg() -> Named:
    for codec in ["libx264", "libx265", "mpeg4", "libvpx-vp9", "libsvtav1"]:
        yield f"ffmpeg {codec}.mp4", film(codec)
    for sound in ["aac", "libopus", "libmp3lame"]:
        yield f"ffmpeg with {sound}.mp4", film("libx264", sound=sound)
    for movflags in ["faststart", "frag_keyframe", "frag_keyframe+empty_moov+default_base_moof+dash+global_sidx"]:
        yield f"ffmpeg {movflags}.mp4", film("libx264", movflags=movflags)
        yield f"ffmpeg {movflags} with aac.mp4", film("libx264", sound="aac", movflags=movflags)


def film(codec: str, sound: str | None = None, movflags: str = "") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        with av.open(str(path), "w", options={"movflags": movflags} if movflags else {}) as container:
            pictures = container.add_stream(codec, 10)
            pictures.width, pictures.height, pictures.pix_fmt, pictures.gop_size = FILM_WIDTH, FILM_HEIGHT, "yuv420p", 2
            heard = container.add_stream(sound, 48_000) if sound else None
            for time in range(4):
                frame = av.VideoFrame.from_ndarray(ramps(FILM_WIDTH, FILM_HEIGHT), "rgb24")
                frame.pts, frame.time_base = time, Fraction(1, 10)
                container.mux(pictures.encode(frame))
            if heard:
                samples = av.AudioFrame.from_ndarray(np.zeros((1, 2 * 4_800), np.int16), "s16", "stereo")
                samples.sample_rate = 48_000
                container.mux(heard.encode(samples))
                container.mux(heard.encode())
            container.mux(pictures.encode())
        return path.read_bytes()


def of_documents() -> Named:
    file = io.BytesIO()
    page = canvas.Canvas(file)
    page.drawString(72, 72, "A report")
    page.save()
    yield "reportlab.pdf", file.getvalue()
    for name, options in {
        "linearized": {"linearize": True},
        "object streams": {"object_stream_mode": pikepdf.ObjectStreamMode.generate},
    }.items():
        saved_again = io.BytesIO()
        with pikepdf.open(io.BytesIO(file.getvalue())) as document:
            document.save(saved_again, **options)
        yield f"pikepdf {name}.pdf", saved_again.getvalue()


def size_of(name: str) -> list[int] | None:
    if name.endswith(".pdf"):
        return None
    return [FILM_WIDTH, FILM_HEIGHT] if name.endswith(".mp4") else [WIDTH, HEIGHT]


files = [*by_pillow(), *by_opencv(), *by_ffmpeg(), *of_documents()]
entries = {name: {"size": size_of(name), "content": base64.b64encode(content).decode()} for name, content in files}
FILE.write_text(json.dumps(entries, indent=2) + "\n")

"""Writes `pictures/`, one small file for each way to store a picture, and `pictures.json`, its pixels as Pillow and
littlecms read them: what the decoder is held to.

    python -m pip install pillow==13.0.0 numpy
    python test/inference/goldens/make_picture_goldens.py

Run from the top of the repository. Pillow writes the files too, or, where it cannot, this script does.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps

FOLDER = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 16, 12
WHITE = (255, 255, 255)


def ramps() -> np.ndarray:
    """[HEIGHT, WIDTH, 3]: smooth, every corner another colour, no symmetry."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [40 + x * 12, 220 - y * 14, 60 + x * 4 + y * 8]
    return np.stack(planes, -1).astype(np.uint8)


def opacity() -> np.ndarray:
    """[HEIGHT, WIDTH]: clear on the left, opaque on the right."""
    return np.broadcast_to(np.linspace(0, 255, WIDTH).round().astype(np.uint8), (HEIGHT, WIDTH)).copy()


def on_white(image: Image.Image) -> Image.Image:
    layered = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layered.size, (*WHITE, 255)), layered).convert("RGB")


# ICC profiles, ICC.1:2001-04. D50 is the white of the connection space.

D50 = (0.9642, 1.0, 0.8249)
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def xyz_of(x: float, y: float) -> np.ndarray:
    return np.array([x / y, 1.0, (1 - x - y) / y])


def tag(kind: bytes, data: bytes) -> bytes:
    padded = kind + b"\0" * 4 + data
    return padded + b"\0" * (-len(padded) % 4)


def fixed(value: float) -> bytes:
    return struct.pack(">i", round(value * 65536))


def profile(space: bytes, connection: bytes, device: bytes, tags: dict[bytes, bytes]) -> bytes:
    described = {
        b"desc": tag(b"desc", struct.pack(">I", 5) + b"test\0" + b"\0" * 78),
        b"cprt": tag(b"text", b"public domain\0"),
        b"wtpt": tag(b"XYZ ", b"".join(map(fixed, D50))),
        **tags,
    }
    table, data, at = b"", b"", 128 + 4 + 12 * len(described)
    for name, content in described.items():
        table += name + struct.pack(">II", at + len(data), len(content))
        data += content
    body = struct.pack(">I", len(described)) + table + data
    header = struct.pack(">I4sI4s4s4s", 128 + len(body), b"\0" * 4, 0x02400000, device, space, connection)
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28 + b"".join(map(fixed, D50))
    return header.ljust(128, b"\0") + body


def rgb_profile(primaries: list[tuple[float, float]], curve: bytes) -> bytes:
    """Primaries as (x, y), with the white D65."""
    white = xyz_of(0.3127, 0.3290)
    columns = np.stack([xyz_of(*primary) for primary in primaries], -1)
    matrix = columns * np.linalg.solve(columns, white)
    gains = (BRADFORD @ np.array(D50)) / (BRADFORD @ white)
    adapted = np.linalg.inv(BRADFORD) @ np.diag(gains) @ BRADFORD @ matrix
    tags: dict[bytes, bytes] = {}
    for index, letter in enumerate((b"r", b"g", b"b")):
        tags[letter + b"XYZ"] = tag(b"XYZ ", b"".join(fixed(value) for value in adapted[:, index]))
        tags[letter + b"TRC"] = tag(b"curv", curve)
    return profile(b"RGB ", b"XYZ ", b"mntr", tags)


def srgb_curve() -> bytes:
    level = np.linspace(0, 1, 1024)
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    return struct.pack(">I1024H", 1024, *(linear * 65535).round().astype(int))


def cmyk_profile() -> bytes:
    """Four inks on paper, as a table of two levels of each: an `A2B0` of 16 colours in Lab."""
    colours = b""
    for cyan, magenta, yellow, black in np.ndindex(2, 2, 2, 2):
        lightness = (255 - 70 * cyan - 95 * magenta - 15 * yellow) * (1 - 0.85 * black)
        red_green = 128 + (-35 * cyan + 72 * magenta - 6 * yellow) * (1 - black)
        yellow_blue = 128 + (-48 * cyan - 4 * magenta + 88 * yellow) * (1 - black)
        colours += bytes(round(min(max(value, 0), 255)) for value in (lightness, red_green, yellow_blue))
    identity = b"".join(fixed(value) for value in np.eye(3).ravel())
    ramp = bytes(range(256))
    table = struct.pack(">BBBB", 4, 3, 2, 0) + identity + ramp * 4 + colours + ramp * 3
    return profile(b"CMYK", b"Lab ", b"prtr", {b"A2B0": tag(b"mft1", table)})


DISPLAY_P3 = rgb_profile([(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)], srgb_curve())
ADOBE_RGB = rgb_profile([(0.64, 0.33), (0.21, 0.71), (0.15, 0.06)], struct.pack(">IH", 1, round(2.19921875 * 256)))
GREY_GAMMA_18 = profile(b"GRAY", b"XYZ ", b"mntr", {b"kTRC": tag(b"curv", struct.pack(">IH", 1, round(1.8 * 256)))})
CMYK = cmyk_profile()


def to_srgb(image: Image.Image, embedded: bytes) -> Image.Image:
    source = ImageCms.ImageCmsProfile(io.BytesIO(embedded))
    intent = ImageCms.Intent.PERCEPTUAL
    converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), intent, outputMode="RGB")
    assert converted is not None
    return converted


# Files


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png16(samples: np.ndarray, colour_type: int, embedded: bytes | None = None) -> bytes:
    """[HEIGHT, WIDTH, channels] of 16 bits, which Pillow does not write."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, colour_type, 0, 0, 0)
    icc = [] if embedded is None else [chunk(b"iCCP", b"p\0\0" + zlib.compress(embedded))]
    parts = [chunk(b"IHDR", header), *icc, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def ycck(inks: Image.Image, **options: object) -> bytes:
    """As Photoshop writes CMYK, which Pillow reads only: brightness and colour apart, and a flag in the Adobe segment."""
    *colours, black = inks.split()
    converted = Image.merge("RGB", colours).convert("YCbCr")
    file = saved(Image.merge("CMYK", [*(ImageOps.invert(plane) for plane in converted.split()), black]), "JPEG", **options)
    flag_at = file.index(b"Adobe") + 11
    assert file[flag_at] == 0
    return file[:flag_at] + b"\2" + file[flag_at + 1 :]


def with_orientation(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def read(file: bytes) -> Image.Image:
    return Image.open(io.BytesIO(file))


def as_read(file: bytes) -> tuple[bytes, Image.Image]:
    return file, on_white(ImageOps.exif_transpose(read(file)))


def pictures() -> dict[str, tuple[bytes, Image.Image]]:
    colour = Image.fromarray(ramps())
    grey = colour.convert("L")
    clear = colour.copy()
    clear.putalpha(Image.fromarray(opacity()))
    grey_clear = grey.copy()
    grey_clear.putalpha(Image.fromarray(opacity()))
    palette = colour.quantize(8)
    inks = Image.merge("CMYK", [Image.fromarray(plane) for plane in (*np.moveaxis(ramps(), -1, 0), opacity() // 4)])
    fine = {"quality": 98, "subsampling": 0}

    made = {f"orientation-{n}.jpg": as_read(saved(colour, "JPEG", exif=with_orientation(n), **fine)) for n in range(1, 9)}
    made["orientation-6.png"] = as_read(saved(colour, "PNG", exif=with_orientation(6)))
    made["orientation-6.webp"] = as_read(saved(colour, "WEBP", lossless=True, exif=with_orientation(6)))
    made["baseline.jpg"] = as_read(saved(colour, "JPEG", quality=95))
    made["progressive.jpg"] = as_read(saved(colour, "JPEG", quality=95, progressive=True))
    made["grey.jpg"] = as_read(saved(grey, "JPEG", quality=98))
    made["lossless.webp"] = as_read(saved(colour, "WEBP", lossless=True))
    made["lossy.webp"] = as_read(saved(colour, "WEBP", quality=95))
    made["alpha.webp"] = as_read(saved(clear, "WEBP", lossless=True, exact=True))
    made["animated.webp"] = as_read(
        saved(colour, "WEBP", save_all=True, append_images=[Image.new("RGB", colour.size, "red")], lossless=True)
    )
    made["opaque.avif"] = as_read(saved(colour, "AVIF", quality=95, subsampling="4:4:4"))
    made["alpha.avif"] = as_read(saved(clear, "AVIF", quality=95, subsampling="4:4:4"))
    made["opaque.png"] = as_read(saved(colour, "PNG"))
    made["alpha.png"] = as_read(saved(clear, "PNG"))
    made["grey.png"] = as_read(saved(grey, "PNG"))
    made["grey-alpha.png"] = as_read(saved(grey_clear, "PNG"))
    made["two-levels.png"] = as_read(saved(grey.convert("1"), "PNG"))
    made["palette.png"] = as_read(saved(palette, "PNG"))
    made["palette-one-clear.png"] = as_read(saved(palette, "PNG", transparency=3))
    made["palette-half-clear.png"] = as_read(saved(palette, "PNG", transparency=bytes([0, 64, 128, 192])))
    made["colour-key.png"] = as_read(saved(colour, "PNG", transparency=tuple(map(int, ramps()[5, 7]))))
    made["animated.png"] = as_read(
        saved(colour, "PNG", save_all=True, append_images=[Image.new("RGB", colour.size, "red")])
    )

    deep = ramps().astype(np.uint16) * 257 + 100
    made["deep.png"] = png16(deep, 2), Image.fromarray((deep / 257).round().astype(np.uint8))
    deep_grey = deep[:, :, :1]
    eight = Image.fromarray((deep_grey[:, :, 0] / 257).round().astype(np.uint8)).convert("RGB")
    made["deep-grey.png"] = png16(deep_grey, 0), eight
    deep_opacity = (opacity().astype(np.uint16) * 257)[:, :, None]
    made["deep-alpha.png"] = png16(np.concatenate([deep, deep_opacity], -1), 6), on_white(clear)

    for name, embedded in (("display-p3", DISPLAY_P3), ("adobe-rgb", ADOBE_RGB)):
        made[f"{name}.png"] = saved(colour, "PNG", icc_profile=embedded), to_srgb(colour, embedded)
        photo = saved(colour, "JPEG", icc_profile=embedded, **fine)
        made[f"{name}.jpg"] = photo, to_srgb(read(photo), embedded)
    made["display-p3.webp"] = saved(colour, "WEBP", lossless=True, icc_profile=DISPLAY_P3), to_srgb(colour, DISPLAY_P3)
    made["deep-display-p3.png"] = png16(ramps().astype(np.uint16) * 257, 2, DISPLAY_P3), to_srgb(colour, DISPLAY_P3)
    made["grey-gamma-1.8.png"] = saved(grey, "PNG", icc_profile=GREY_GAMMA_18), to_srgb(grey, GREY_GAMMA_18)
    made["cmyk.jpg"] = as_read(saved(inks, "JPEG", **fine))
    # Pillow writes CMYK as Adobe does, inverted, and says so in the file.
    printed = saved(inks, "JPEG", icc_profile=CMYK, **fine)
    made["cmyk-profile.jpg"] = printed, to_srgb(read(printed), CMYK)
    photoshop = ycck(inks, icc_profile=CMYK, **fine)
    made["ycck-profile.jpg"] = photoshop, to_srgb(inks, CMYK)
    return made


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    goldens = {}
    for name, (file, image) in pictures().items():
        (FOLDER / name).write_bytes(file)
        pixels = base64.b64encode(image.convert("RGB").tobytes()).decode()
        goldens[name] = {"width": image.width, "height": image.height, "pixels": pixels}
    (Path(__file__).parent / "pictures.json").write_text(json.dumps(goldens, indent=2) + "\n")


if __name__ == "__main__":
    main()

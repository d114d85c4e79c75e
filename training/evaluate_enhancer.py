"""Figures of `models/picture-enhancement` on photographs that no one trained on, and Pillow's filters on the same pictures.

    pip install scikit-image==0.26.0 scikit-learn==1.9.1
    python -m training.evaluate_enhancer --models models [--photographs FOLDER --most 12]

Without `--photographs` they are those that scikit-image and scikit-learn carry. The first ones of a folder with a longer side of
at least 500 pixels are halved by a box filter before, so that the noise of their JPEG is gone.

Doubling: the photograph is halved (or quartered) by Pillow's bicubic filter, kept as it is or saved as a JPEG of quality 90,
and enlarged again. Noise: Gaussian noise is added, and taken away. Each figure is the mean over the photographs of PSNR (dB,
without as many pixels along the edges as the picture is enlarged) and SSIM on RGB, and of two perceptual measures, of
which 0 means the same: the distance of structure and texture (Ding et al. 2020, DISTS) over the features of EfficientNet-Lite0 with equal
weights, and the deviation of the similarity of gradients (Xue et al. 2014, GMSD).
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
import skimage
import sklearn
import torch
from PIL import Image, ImageFilter
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from .backbone import MEAN, STD, Backbone
from .export_enhancer import MODEL, RELEASE

NAMES = ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png")
SIZES = {"halved": 2, "quartered": 4}
# Of the photographs of a folder, in pixels.
LEAST_SIDE = 500


def photographs(folder: Path | None, most: int) -> list[Image.Image]:
    if folder:
        pictures = [Image.open(path).convert("RGB") for path in sorted(folder.iterdir())]
        large = [each for each in pictures if max(each.size) >= LEAST_SIDE][:most]
        return [each.resize((each.width // 8 * 4, each.height // 8 * 4), Image.Resampling.BOX) for each in large]
    carried = [Path(skimage.__file__).parent / "data" / name for name in NAMES]
    carried += sorted((Path(sklearn.__file__).parent / "datasets/images").glob("*.jpg"))
    return [Image.open(path).convert("RGB") for path in carried]


def network(path: Path) -> onnxruntime.InferenceSession:
    """For pictures of any size: a picture is the same in tiles as whole."""
    model = onnx.load(path)
    for value in (*model.graph.input, *model.graph.output):
        for axis, name in ((2, "height"), (3, "width")):
            value.type.tensor_type.shape.dim[axis].dim_param = f"{value.name}_{name}"
    return onnxruntime.InferenceSession(model.SerializeToString())


def made(session: onnxruntime.InferenceSession, picture: Image.Image) -> Image.Image:
    planes = np.asarray(picture, np.float32).transpose(2, 0, 1)[None] / 255
    [said] = session.run(None, {"input": planes})
    return Image.fromarray(np.round(np.clip(said[0].transpose(1, 2, 0), 0, 1) * 255).astype(np.uint8))


def as_jpeg(picture: Image.Image) -> Image.Image:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    return Image.open(file).convert("RGB")


class Perception:
    """Perceptual measures of two pictures."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.backbone = Backbone.pretrained().eval()

    @torch.no_grad()
    def features(self, pixels: np.ndarray) -> list[torch.Tensor]:
        height, width = (side // 32 * 32 for side in pixels.shape[:2])
        levels = (pixels[:height, :width] / np.float32(255) - np.float32(MEAN)) / np.float32(STD)
        x = torch.from_numpy(np.ascontiguousarray(levels.transpose(2, 0, 1)[None]))
        return [x, *self.backbone(x)]

    def distance(self, one: np.ndarray, other: np.ndarray) -> float:
        similar, least = [], 1e-6
        for a, b in zip(self.features(one), self.features(other)):
            mean_a, mean_b = a.mean((2, 3)), b.mean((2, 3))
            spread = a.var((2, 3), unbiased=False) + b.var((2, 3), unbiased=False)
            shared = (a * b).mean((2, 3)) - mean_a * mean_b
            texture = (2 * mean_a * mean_b + least) / (mean_a ** 2 + mean_b ** 2 + least)
            similar.append(float((texture + (2 * shared + least) / (spread + least)).mean()) / 2)
        return 1 - float(np.mean(similar))


def gradient_deviation(one: np.ndarray, other: np.ndarray) -> float:
    kernel = np.float32([[1, 0, -1]] * 3) / 3
    sizes = []
    for pixels in (one, other):
        grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
        grey = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        sizes.append(np.hypot(cv2.filter2D(grey, -1, kernel), cv2.filter2D(grey, -1, kernel.T)))
    a, b = sizes
    return float(((2 * a * b + 170) / (a * a + b * b + 170)).std())


def figure(pairs: list[tuple[Image.Image, Image.Image]], edge: int, perception: Perception) -> str:
    rows = []
    for truth, picture in pairs:
        one, other = np.asarray(truth), np.asarray(picture)
        inner = np.s_[edge:-edge, edge:-edge]
        rows.append((peak_signal_noise_ratio(one[inner], other[inner]), structural_similarity(one, other, channel_axis=2),
                     perception.distance(one, other), gradient_deviation(one, other)))
    return "{:.2f} / {:.3f} / {:.3f} / {:.3f}".format(*np.mean(rows, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--photographs", type=Path)
    parser.add_argument("--most", type=int, default=12)
    args = parser.parse_args()
    folder = args.models / MODEL / RELEASE
    upscale = network(folder / "upscale.onnx")
    pictures, perception = photographs(args.photographs, args.most), Perception()
    print("| | bilinear | bicubic | Lanczos | upscale | upscale, fidelity 0.8 |\n| --- | --- | --- | --- | --- | --- |")
    for name, factor in SIZES.items():
        for kind, saved in (("", lambda picture: picture), (", JPEG", as_jpeg)):
            pairs: dict[str, list] = {}
            for whole in pictures:
                truth = whole.crop((0, 0, whole.width // factor * factor, whole.height // factor * factor))
                small = saved(truth.resize((truth.width // factor, truth.height // factor), Image.Resampling.BICUBIC))
                answers = {filter_.name: small.resize(truth.size, filter_) for filter_ in
                           (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)}
                answers["upscale"] = made(upscale, small if factor == 2 else made(upscale, small))
                # The endpoint's default fidelity: sqrt(1 - 0.8 ** 2) of the network's output.
                answers["default"] = Image.blend(answers["BILINEAR"], answers["upscale"], 0.6)
                for key, answer in answers.items():
                    pairs.setdefault(key, []).append((truth, answer))
            print(f"| {name}{kind} | " + " | ".join(figure(each, factor, perception) for each in pairs.values()) + " |", flush=True)

    if not (folder / "denoise.onnx").exists():
        return
    denoise, random = network(folder / "denoise.onnx"), np.random.default_rng(1)
    print("\n| noise, of 255 | noisy | median of 3 x 3 | denoise | denoise, strength 0.5 |\n| --- | --- | --- | --- | --- |")
    for level in (0, 5, 10, 20):
        pairs = {"noisy": [], "median": [], "denoise": [], "half": []}
        for truth in pictures:
            levels = np.asarray(truth) + random.normal(0, level, (truth.height, truth.width, 3))
            given = Image.fromarray(np.clip(np.round(levels), 0, 255).astype(np.uint8))
            answer = made(denoise, given)
            pairs["noisy"].append((truth, given))
            pairs["median"].append((truth, given.filter(ImageFilter.MedianFilter(3))))
            pairs["denoise"].append((truth, answer))
            pairs["half"].append((truth, Image.blend(given, answer, 0.5)))
        print(f"| {level} | " + " | ".join(figure(each, 1, perception) for each in pairs.values()) + " |")


if __name__ == "__main__":
    main()

"""Figures of `models/picture-enhancement` on photographs that no one trained on: those that scikit-image and scikit-learn
carry, and Pillow's filters on the same pictures.

    pip install scikit-image==0.26.0 scikit-learn==1.9.1
    python -m training.evaluate_enhancer --models models

Doubling: the photograph is halved (or quartered) by Pillow's bicubic filter, kept as it is or saved as a JPEG of quality 90,
and enlarged again. Noise: Gaussian noise is added, and taken away. Each figure is the mean over the photographs of PSNR (dB)
and SSIM on RGB, without as many pixels along the edges as the picture is enlarged.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import skimage
import sklearn
from PIL import Image, ImageFilter
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from .export_enhancer import MODEL, RELEASE

NAMES = ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png")
SIZES = {"halved": 2, "quartered": 4}


def photographs() -> list[Image.Image]:
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


def figure(pairs: list[tuple[Image.Image, Image.Image]], edge: int) -> str:
    psnr, ssim = [], []
    for truth, picture in pairs:
        one, other = (np.asarray(each)[edge:-edge, edge:-edge] for each in (truth, picture))
        psnr.append(peak_signal_noise_ratio(one, other))
        ssim.append(structural_similarity(one, other, channel_axis=2))
    return f"{np.mean(psnr):.2f} / {np.mean(ssim):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models"))
    folder = parser.parse_args().models / MODEL / RELEASE
    upscale = network(folder / "upscale.onnx")
    pictures = photographs()
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
            print(f"| {name}{kind} | " + " | ".join(figure(each, factor) for each in pairs.values()) + " |")

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
        print(f"| {level} | " + " | ".join(figure(each, 1) for each in pairs.values()) + " |")


if __name__ == "__main__":
    main()

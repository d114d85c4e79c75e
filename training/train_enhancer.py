"""Train one network of `models/picture-enhancement` on photographs and drawn pictures.

    python -m training.train_enhancer --network upscale --data FOLDER --out FOLDER --minutes 25 [--start RELEASE/upscale.onnx]

To learn to double, it sees pictures that were shrunk; to take noise away, pictures with noise as sensors have it. Half of
both were saved as JPEGs. `--data` holds what `enhancer_data.py` and `leaves.py` wrote.
"""

from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image, ImageFilter

from .enhancer import NETWORKS, Enhancer, read_weights
from .learning import Average, Clock, arguments, to_input

# Side of what it is given, in pixels.
PATCH = 48
BATCH = 16
# Standard deviation of noise at the most, of 255: what the denoiser takes away, and what the enlarger may see.
NOISE, FAINT_NOISE = 40, 5
# Share of the drawn pictures, and weight of the differences between neighbours.
DRAWN, EDGES = 0.12, 0.5
FILTERS = (Image.Resampling.BICUBIC, Image.Resampling.BICUBIC, Image.Resampling.BOX, Image.Resampling.LANCZOS)


def as_jpeg(picture: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def shrunk(random: np.random.Generator, sharp: np.ndarray) -> np.ndarray:
    picture = Image.fromarray(sharp)
    if random.random() < 0.2:
        picture = picture.filter(ImageFilter.GaussianBlur(random.uniform(0.3, 1)))
    small = picture.resize((picture.width // 2, picture.height // 2), FILTERS[random.integers(len(FILTERS))])
    if random.random() < 0.15:
        grains = random.normal(0, random.uniform(0, FAINT_NOISE), (small.height, small.width, 3))
        small = Image.fromarray(np.clip(np.round(np.asarray(small) + grains), 0, 255).astype(np.uint8))
    return np.asarray(as_jpeg(small, int(random.integers(75, 98))) if random.random() < 0.5 else small)


def noisy(random: np.random.Generator, sharp: np.ndarray) -> np.ndarray:
    """More noise in the light than in the dark, and alike in neighbours where the camera has smoothed it."""
    level = NOISE * random.random() ** 1.5
    noise = random.normal(0, 1, sharp.shape)
    if random.random() < 0.3:
        noise = (noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))) / 2
    light = (sharp / 255) ** random.uniform(0, 0.5)
    picture = Image.fromarray(np.clip(np.round(sharp + noise * level * light), 0, 255).astype(np.uint8))
    return np.asarray(as_jpeg(picture, int(random.integers(70, 98))) if random.random() < 0.5 else picture)


def main() -> None:
    args = arguments(__doc__, NETWORKS)
    name = args.network
    random = np.random.default_rng(args.seed)
    net = Enhancer(*NETWORKS[name])
    scale = net.scale
    worsen = noisy if scale == 1 else shrunk
    if args.start:
        read_weights(net, args.start)
    net = net.to(memory_format=torch.channels_last)
    average = Average(net, 0.999)
    optimiser = torch.optim.Adam(net.parameters(), lr=args.rate)
    clock = Clock(optimiser, args.minutes, args.rate)
    pictures = {path.stem: np.load(path)["sharp"] for path in args.data.glob("*.npz")}
    total, side = 0.0, PATCH * scale
    while not clock.over():
        given, wanted = [], []
        for _ in range(BATCH):
            sharp = pictures["leaves" if random.random() < DRAWN else "photographs"]
            top, left = random.integers(0, sharp.shape[1] - side + 1, 2)
            patch = np.rot90(sharp[random.integers(len(sharp)), top:top + side, left:left + side], random.integers(4))
            wanted.append(patch[:, ::-1] if random.random() < 0.5 else patch)
            given.append(worsen(random, np.ascontiguousarray(wanted[-1])))
        clock.tick()
        made = net(to_input(np.stack(given)))
        # The edges, which know less, are left out.
        inner = np.s_[..., 4 * scale:-4 * scale, 4 * scale:-4 * scale]
        wrong = (made - to_input(np.stack(wanted)))[inner]
        loss = wrong.abs().mean()
        edges = wrong.diff(dim=-1).abs().mean() + wrong.diff(dim=-2).abs().mean()
        optimiser.zero_grad(set_to_none=True)
        (loss + EDGES * edges).backward()
        optimiser.step()
        average.update(net)
        total += float(loss.detach())
        if clock.step_count % 200 == 0:
            average.save(args.out / f"{name}.pt")
            print(f"step {clock.step_count}: loss {total / 200 * 255:.3f} of 255, time {clock.share():.0%}", flush=True)
            total = 0.0
    average.save(args.out / f"{name}.pt")


if __name__ == "__main__":
    main()

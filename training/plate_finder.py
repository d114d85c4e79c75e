"""The network of the model `plate-finder`: where plates are, their boxes and their four corners."""

from __future__ import annotations

import torch
from torch import nn
import torch.nn.functional as F

from .backbone import Backbone, Pyramid, Separable

STRIDE = 4
CHANNELS = 64
# Results before the decoder drops what overlaps.
CANDIDATES = 60
# Plates narrower than this, in pixels, are found at the full size alone.
NEAR = 170
SHRUNK = 3
# Signs of a corner's inward direction: top left, top right, bottom right, bottom left.
INWARD_X, INWARD_Y = (1, -1, -1, 1), (1, 1, -1, -1)


class PlateFinder(nn.Module):
    """
    Pictures as `backbone.py` wants them -> heat [N, 1, h, w], logits; distances [N, 4, h, w] to left, top, right and bottom,
    logarithms in strides; corners [N, 8, h, w]: x and y of each, inwards from the corner of the box, as shares of its sides.
    """

    def __init__(self, backbone: Backbone | None = None):
        super().__init__()
        self.backbone = backbone or Backbone()
        self.pyramid = Pyramid(CHANNELS)
        self.common = Separable(CHANNELS, CHANNELS)
        self.heat, self.distances, self.corners = (nn.Conv2d(CHANNELS, out, 1) for out in (1, 4, 8))
        for head in (self.heat, self.distances, self.corners):
            nn.init.normal_(head.weight, std=0.01)
            nn.init.zeros_(head.bias)
        # At first nothing is a plate: the many cells without one would drown the others.
        nn.init.constant_(self.heat.bias, -4.6)
        nn.init.constant_(self.distances.bias, 1.0)

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = self.common(self.pyramid(self.backbone(pictures)))
        return self.heat(x), self.distances(x), self.corners(x)


def corner_loss(raw: torch.Tensor, index: torch.Tensor, positives: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean error in heights of the plate; raw [N, 8, h, w], positives as in `heat_targets`, targets [P, 8] shares."""
    if len(positives) == 0:
        return raw.sum() * 0
    y, x = positives[:, 1].long(), positives[:, 2].long()
    width, height = positives[:, 3] + positives[:, 5], (positives[:, 4] + positives[:, 6]).clamp(min=1)
    # A share of the width is many heights.
    scale = torch.stack([width / height, torch.ones_like(height)], 1).repeat(1, 4).clamp(max=6)
    weight = positives[:, 7]
    return (F.smooth_l1_loss(raw[index, :, y, x] * scale, targets * scale, beta=0.05, reduction="none").mean(1) * weight).sum() / weight.sum()


class Export(nn.Module):
    """
    One picture, its sides multiples of 96 -> [1, 13, 2 CANDIDATES], the layout of `yolo-pose` with one class and four keypoints
    without visibility: centre, width and height, score, then x and y of each corner in reading order, all in pixels of the input.
    The picture is seen twice, the second time at a third of its size, for plates wider than those of the training.
    """

    def __init__(self, net: PlateFinder):
        super().__init__()
        self.net = net

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        near = SHRUNK * self.rows(F.avg_pool2d(picture, SHRUNK))
        score = near[:, 4:5] / SHRUNK * (near[:, 2:3] > NEAR)
        return torch.cat([self.rows(picture), torch.cat([near[:, :4], score, near[:, 5:]], 1)], 2)

    def rows(self, picture: torch.Tensor) -> torch.Tensor:
        heat, distances, corners = self.net(picture)
        score = torch.sigmoid(heat)
        score = score * (F.max_pool2d(score, 3, 1, 1) == score)
        # Sums of ones rather than a range: the size of the map is known when it runs.
        ones = torch.ones_like(heat)
        x, y = (ones.cumsum(3) - 0.5) * STRIDE, (ones.cumsum(2) - 0.5) * STRIDE
        left, top, right, bottom = (torch.exp(distances.clamp(-4, 6)) * STRIDE).split(1, 1)
        x0, y0, x1, y1 = x - left, y - top, x + right, y + bottom
        width, height = x1 - x0, y1 - y0
        shares = corners.clamp(0, 1).split(1, 1)
        rows = [(x0 + x1) / 2, (y0 + y1) / 2, width, height, score]
        for corner in range(4):
            rows.append((x0 if INWARD_X[corner] > 0 else x1) + INWARD_X[corner] * shares[2 * corner] * width)
            rows.append((y0 if INWARD_Y[corner] > 0 else y1) + INWARD_Y[corner] * shares[2 * corner + 1] * height)
        _, best = score.flatten(1).topk(CANDIDATES, dim=1)
        return torch.cat(rows, 1).flatten(2).gather(2, best[:, None].expand(-1, 5 + 8, -1))

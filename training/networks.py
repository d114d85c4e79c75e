"""The five networks of the two reference models.

Every network has two faces: `forward` returns raw maps or logits for
training, and a small `...Export` wrapper adds the decoding (max-pool
suppression, top-k, soft-max) so that the ONNX file hands out finished boxes
and probabilities and the client stays simple.
"""

from __future__ import annotations

import torch
from torch import nn
import torch.nn.functional as F

LOCATOR_SIZE = 256                 # square input of the locator
ELEMENTS_HEIGHT, ELEMENTS_WIDTH = 256, 448
LAMP_SIZE = 48
FUEL_SIZE = 64
LINE_HEIGHT = 32
ELEMENT_CLASSES = ["odometer_digital", "odometer_analogue", "fuel_gauge", "lamp"]


def conv(cin: int, cout: int, k: int = 3, s: int = 1, d: int = 1) -> nn.Sequential:
    """Convolution + batch norm + ReLU; batch norm folds away on export."""
    return nn.Sequential(
        nn.Conv2d(cin, cout, k, s, padding=d * (k // 2), dilation=d, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """Two 3x3 convolutions with a skip."""

    def __init__(self, c: int, d: int = 1):
        super().__init__()
        self.a = conv(c, c, d=d)
        self.b = nn.Sequential(
            nn.Conv2d(c, c, 3, padding=d, dilation=d, bias=False), nn.BatchNorm2d(c)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.b(self.a(x)))


class Locator(nn.Module):
    """[N,3,256,256] RGB 0..1 -> heat [N,1,32,32], ltrb [N,4,32,32], presence [N], lit [N]."""

    stride = 8

    def __init__(self) -> None:
        super().__init__()
        self.s2 = conv(3, 16, s=2)
        self.s4 = nn.Sequential(conv(16, 24, s=2), conv(24, 24))
        self.s8 = nn.Sequential(conv(24, 48, s=2), Residual(48))
        self.s16 = nn.Sequential(conv(48, 72, s=2), Residual(72))
        self.s32 = nn.Sequential(conv(72, 96, s=2), Residual(96), Residual(96, d=2))
        self.up16 = conv(96 + 72, 64)
        self.up8 = conv(64 + 48, 48)
        self.heat = nn.Sequential(conv(48, 48), nn.Conv2d(48, 1, 1))
        self.box = nn.Sequential(conv(48, 48), nn.Conv2d(48, 4, 1))
        self.presence = nn.Sequential(nn.Linear(192, 48), nn.ReLU(), nn.Linear(48, 1))
        self.lit = nn.Sequential(nn.Linear(192, 48), nn.ReLU(), nn.Linear(48, 1))
        nn.init.constant_(self.heat[-1].bias, -3.0)

    def forward(self, x: torch.Tensor):
        x = x * 2 - 1
        a8 = self.s8(self.s4(self.s2(x)))
        a16 = self.s16(a8)
        a32 = self.s32(a16)
        f = self.up16(torch.cat([F.interpolate(a32, scale_factor=2.0, mode="nearest"), a16], 1))
        f = self.up8(torch.cat([F.interpolate(f, scale_factor=2.0, mode="nearest"), a8], 1))
        pooled = torch.cat([a32.mean((2, 3)), a32.amax((2, 3))], 1)
        return self.heat(f), self.box(f), self.presence(pooled)[:, 0], self.lit(pooled)[:, 0]


class Elements(nn.Module):
    """[N,3,256,448] RGB 0..1 -> heat [N,4,64,112], ltrb [N,4,64,112] (log of cells)."""

    stride = 4

    def __init__(self) -> None:
        super().__init__()
        self.s2 = conv(3, 16, s=2)
        self.s4 = nn.Sequential(conv(16, 32, s=2), Residual(32))
        self.s8 = nn.Sequential(conv(32, 64, s=2), Residual(64))
        self.s16 = nn.Sequential(conv(64, 96, s=2), Residual(96))
        self.s32 = nn.Sequential(conv(96, 112, s=2), Residual(112))
        self.up16 = conv(112 + 96, 80)
        self.up8 = conv(80 + 64, 56)
        self.up4 = conv(56 + 32, 40)
        self.heat = nn.Sequential(conv(40, 40), nn.Conv2d(40, len(ELEMENT_CLASSES), 1))
        self.box = nn.Sequential(conv(40, 40), nn.Conv2d(40, 4, 1))
        nn.init.constant_(self.heat[-1].bias, -4.0)

    def forward(self, x: torch.Tensor):
        x = x * 2 - 1
        a4 = self.s4(self.s2(x))
        a8 = self.s8(a4)
        a16 = self.s16(a8)
        a32 = self.s32(a16)
        f = self.up16(torch.cat([F.interpolate(a32, scale_factor=2.0, mode="nearest"), a16], 1))
        f = self.up8(torch.cat([F.interpolate(f, scale_factor=2.0, mode="nearest"), a8], 1))
        f = self.up4(torch.cat([F.interpolate(f, scale_factor=2.0, mode="nearest"), a4], 1))
        return self.heat(f), self.box(f)


class Lamps(nn.Module):
    """[N,3,48,48] RGB 0..1 -> logits [N,C]."""

    def __init__(self, classes: int):
        super().__init__()
        self.body = nn.Sequential(
            conv(3, 24), conv(24, 32, s=2), Residual(32), conv(32, 64, s=2), Residual(64),
            conv(64, 96, s=2), Residual(96),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(96 * 36, 64), nn.ReLU(),
                                  nn.Linear(64, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x * 2 - 1))


class Fuel(nn.Module):
    """[N,3,64,64] RGB 0..1 -> level logits [N], confidence logits [N]."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv(3, 24, s=2), Residual(24), conv(24, 48, s=2), Residual(48),
            conv(48, 80, s=2), Residual(80), conv(80, 48, k=1),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(48 * 64, 96), nn.ReLU(), nn.Linear(96, 2))

    def forward(self, x: torch.Tensor):
        y = self.head(self.body(x * 2 - 1))
        return y[:, 0], y[:, 1]


class TextLine(nn.Module):
    """[N,1,32,W] grey 0..1 -> log-probabilities [N, W/4, C], blank at index 0.

    The first step subtracts the local mean and divides by the local spread
    (window: full height x 65 columns), so a dim line at night and a washed
    out one in the sun look alike to the convolutions.
    """

    def __init__(self, classes: int):
        super().__init__()
        self.body = nn.Sequential(
            conv(2, 24), conv(24, 32),
            conv(32, 48, s=2), Residual(48),          # 16 x W/2
            conv(48, 80, s=2), Residual(80),          # 8 x W/4
        )
        self.squeeze = nn.Sequential(nn.Conv2d(80, 112, (8, 3), padding=(0, 1), bias=False),
                                     nn.BatchNorm2d(112), nn.ReLU(inplace=True))
        self.time = nn.ModuleList([self._step(112, d) for d in (1, 2, 4, 1)])
        self.out = nn.Conv2d(112, classes, 1)

    @staticmethod
    def _step(c: int, d: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(c, c, (1, 3), padding=(0, d), dilation=(1, d), bias=False), nn.BatchNorm2d(c),
            nn.ReLU(inplace=True), nn.Conv2d(c, c, 1, bias=False), nn.BatchNorm2d(c),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        column = x.mean(2, keepdim=True)
        column2 = (x * x).mean(2, keepdim=True)
        mean = F.avg_pool2d(column, (1, 65), 1, (0, 32), count_include_pad=False)
        square = F.avg_pool2d(column2, (1, 65), 1, (0, 32), count_include_pad=False)
        spread = torch.sqrt(torch.clamp(square - mean * mean, min=0.0) + 1e-4)
        x = torch.cat([x * 2 - 1, (x - mean) / (spread + 0.01)], 1)
        f = self.squeeze(self.body(x))
        for step in self.time:
            f = F.relu(f + step(f))
        y = self.out(f)[:, :, 0].permute(0, 2, 1)
        return F.log_softmax(y.float(), 2)


def decode_boxes(heat: torch.Tensor, box: torch.Tensor, stride: int, k: int):
    """Peaks of one picture's heat map [C,h,w] and ltrb map [4,h,w] -> boxes [k,4], scores [k], labels [k]."""
    c, h, w = heat.shape
    peak = F.max_pool2d(heat[None], 3, 1, 1)[0]
    score = torch.where(heat == peak, heat, torch.zeros_like(heat)).reshape(-1)
    scores, index = torch.topk(score, k)
    labels = index // (h * w)
    cell = index - labels * (h * w)
    cy = cell // w
    cx = cell - cy * w
    ltrb = torch.exp(torch.clamp(box.reshape(4, -1)[:, cell], -4.0, 6.0)) * stride
    px = (cx.float() + 0.5) * stride
    py = (cy.float() + 0.5) * stride
    boxes = torch.stack([px - ltrb[0], py - ltrb[1], px + ltrb[2], py + ltrb[3]], 1)
    return boxes, scores, labels


class LocatorExport(nn.Module):
    """image [1,3,256,256] -> boxes [5,4], scores [5], lit [1].

    The best box carries the picture-wide presence probability; further
    boxes are scaled down by how much weaker their peak is.
    """

    def __init__(self, net: Locator):
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor):
        heat, box, presence, lit = self.net(image)
        boxes, scores, _ = decode_boxes(torch.sigmoid(heat[0]), box[0], self.net.stride, 5)
        boxes = torch.clamp(boxes, 0.0, float(LOCATOR_SIZE))
        scores = torch.sigmoid(presence) * scores / torch.clamp(scores[0:1], min=1e-6)
        return boxes, scores, torch.sigmoid(lit)


class ElementsExport(nn.Module):
    """image [1,3,256,448] -> boxes [40,4], scores [40], labels [40] int64."""

    def __init__(self, net: Elements):
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor):
        heat, box = self.net(image)
        boxes, scores, labels = decode_boxes(torch.sigmoid(heat[0]), box[0], self.net.stride, 40)
        limit = torch.tensor([ELEMENTS_WIDTH, ELEMENTS_HEIGHT, ELEMENTS_WIDTH, ELEMENTS_HEIGHT],
                             dtype=torch.float32)
        boxes = torch.minimum(torch.clamp(boxes, min=0.0), limit)
        return boxes, scores, labels


class LampsExport(nn.Module):
    def __init__(self, net: Lamps):
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.net(images), 1)


class FuelExport(nn.Module):
    def __init__(self, net: Fuel):
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor):
        level, confidence = self.net(images)
        return torch.sigmoid(level), torch.sigmoid(confidence)

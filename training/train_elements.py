"""Train the element finder on cluster crops.

    python -m training.train_elements --data DIR --out DIR --minutes 30
"""

from __future__ import annotations

import cv2
import numpy as np
import torch

from .learning import Average, Clock, arguments, box_loss, colour_jitter, focal, heat_targets, shards, to_input
from .networks import ELEMENT_CLASSES, ELEMENTS_HEIGHT, ELEMENTS_WIDTH, Elements, decode_boxes
from .reader import PAD, iou

KEYS = ["elements", "boxes"]


def shake(rng, pixels: np.ndarray, boxes: np.ndarray):
    """Small change of scale, place and angle of one crop; boxes [B,5] (class, xyxy) follow."""
    k = float(np.exp(rng.normal(0, 0.08)))
    sx = k * float(np.exp(rng.normal(0, 0.04)))
    angle = rng.normal(0, 0.02)
    cx, cy = ELEMENTS_WIDTH / 2, ELEMENTS_HEIGHT / 2
    m = np.array([[sx * np.cos(angle), -k * np.sin(angle), 0], [sx * np.sin(angle), k * np.cos(angle), 0]])
    m[:, 2] = [cx + rng.uniform(-14, 14) - m[0, 0] * cx - m[0, 1] * cy, cy + rng.uniform(-12, 12) - m[1, 0] * cx - m[1, 1] * cy]
    out = cv2.warpAffine(pixels, m.astype(np.float32), (ELEMENTS_WIDTH, ELEMENTS_HEIGHT), flags=cv2.INTER_LINEAR, borderValue=(PAD, PAD, PAD))
    if not len(boxes):
        return out, boxes
    centre = (boxes[:, 1:3] + boxes[:, 3:5]) / 2 @ m[:, :2].T + m[:, 2]
    half = (boxes[:, 3:5] - boxes[:, 1:3]) / 2 * np.array([abs(m[0, 0]), abs(m[1, 1])])
    half += (boxes[:, 3:5] - boxes[:, 1:3])[:, ::-1] / 2 * abs(m[0, 1]) * 0.5
    moved = np.concatenate([boxes[:, :1], centre - half, centre + half], 1)
    inside = (centre[:, 0] > 4) & (centre[:, 0] < ELEMENTS_WIDTH - 4) & (centre[:, 1] > 4) & (centre[:, 1] < ELEMENTS_HEIGHT - 4)
    return out, moved[inside]


def evaluate(net, data) -> str:
    """Per class: share of true boxes met with IoU >= 0.5 and precision, at score 0.3."""
    found, true, said = np.zeros(4), np.zeros(4), np.zeros(4)
    net.eval()
    with torch.no_grad():
        for shard in data.values():
            for a in range(0, len(shard["elements"]), 16):
                heat, box = net(to_input(shard["elements"][a:a + 16]))
                for i in range(len(heat)):
                    truth = shard["boxes"][shard["boxes"][:, 0] == a + i]
                    boxes, scores, labels = decode_boxes(torch.sigmoid(heat[i]), box[i], 4, 40)
                    keep = scores > 0.3
                    for c in range(4):
                        t = truth[truth[:, 1] == c][:, 2:]
                        p = boxes[keep & (labels == c)].tolist()
                        true[c] += len(t)
                        said[c] += len(p)
                        for b in t.tolist():
                            hit = next((j for j, q in enumerate(p) if iou(b, q) >= 0.5), None)
                            if hit is not None:
                                p.pop(hit)
                                found[c] += 1
    return " ".join(f"{ELEMENT_CLASSES[c]} R {found[c] / max(1, true[c]):.3f} P {found[c] / max(1, said[c]):.3f} (n {int(true[c])})" for c in range(4))


def main() -> None:
    args = arguments(__doc__)
    rng = np.random.default_rng(args.seed)
    net = Elements()
    if args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(memory_format=torch.channels_last)
    average = Average(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=1e-2)
    clock = Clock(optimiser, args.minutes, args.rate)
    data, epoch = {}, 0
    while not clock.over():
        data = shards(args.data, "train", KEYS, data, "scenes")
        names = list(data)
        index = np.array([(n, i) for n, name in enumerate(names) for i in range(len(data[name]["elements"]))])
        by_crop = {(n, int(b[0])): [] for n, name in enumerate(names) for b in data[name]["boxes"]}
        for n, name in enumerate(names):
            for b in data[name]["boxes"]:
                by_crop[(n, int(b[0]))].append(b[1:])
        rng.shuffle(index)
        net.train()
        sums, seen = np.zeros(2), 0
        for a in range(0, len(index) - 15, 16):
            if clock.over():
                break
            pixels, heats, positives, rows = [], [], [], []
            for row, (n, i) in enumerate(index[a:a + 16]):
                boxes = np.array(by_crop.get((n, i), [])).reshape(-1, 5)
                crop, boxes = shake(rng, data[names[n]]["elements"][i], boxes)
                heat, pos = heat_targets(boxes, 4, 64, 112, 4)
                pixels.append(crop)
                heats.append(heat)
                positives.append(pos)
                rows.append(np.full(len(pos), row))
            x = colour_jitter(to_input(np.stack(pixels)))
            clock.tick()
            with torch.autocast("cpu", torch.bfloat16):
                heat, box = net(x)
            parts = [focal(heat.float(), torch.from_numpy(np.stack(heats))),
                     box_loss(box, torch.from_numpy(np.concatenate(rows)).long(), torch.from_numpy(np.concatenate(positives)), 4)]
            loss = sum(parts)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            average.update(net)
            sums, seen = sums + np.array([float(v.detach()) for v in parts]), seen + 1
            if seen % 100 == 0:
                print(f"  {seen * 16}/{len(index)} heat/box {np.round(sums / seen, 4)} time {clock.share():.0%}", flush=True)
        epoch += 1
        average.save(args.out / "elements.pt")
        held = shards(args.data, "held_out", KEYS, None, "scenes")
        print(f"epoch {epoch}: {len(index)} crops, heat/box {np.round(sums / max(1, seen), 4)} held-out: {evaluate(average.net, held) if held else ''} time {clock.share():.0%}", flush=True)


if __name__ == "__main__":
    main()

"""Train the locator: where the cluster is, whether there is one, whether it is lit.

    python -m training.train_locator --data DIR --out DIR --minutes 15
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from .learning import Average, Clock, arguments, box_loss, colour_jitter, focal, heat_targets, shards, to_input
from .networks import Locator

KEYS = ["locator", "present", "lit", "cluster"]


def evaluate(net, data) -> str:
    """Presence at 0.5, lit accuracy, mean IoU of the best box, on validation shards."""
    from .networks import decode_boxes
    from .reader import iou
    miss = false = lit_right = lit_n = present_n = absent_n = dark_n = dark_right = 0
    overlaps = []
    net.eval()
    with torch.no_grad():
        for shard in data.values():
            for a in range(0, len(shard["locator"]), 32):
                heat, box, presence, lit = net(to_input(shard["locator"][a:a + 32]))
                for i in range(len(heat)):
                    p, l = bool(shard["present"][a + i]), int(shard["lit"][a + i])
                    said = float(presence[i]) > 0
                    present_n, absent_n = present_n + p, absent_n + (not p)
                    miss += p and not said
                    false += said and not p
                    if p:
                        lit_n += 1
                        lit_right += (float(lit[i]) > 0) == (l == 1)
                        dark_n, dark_right = dark_n + (l == 0), dark_right + (l == 0 and float(lit[i]) <= 0)
                        boxes, _, _ = decode_boxes(torch.sigmoid(heat[i]), box[i], 8, 1)
                        overlaps.append(iou(boxes[0].tolist(), shard["cluster"][a + i].tolist()))
    return f"missed {miss}/{present_n}, false {false}/{absent_n}, lit {lit_right}/{lit_n}, of them unlit {dark_right}/{dark_n}, IoU {np.mean(overlaps):.3f} (5 % worst {np.quantile(overlaps, 0.05):.2f})"


def main() -> None:
    args = arguments(__doc__)
    rng = np.random.default_rng(args.seed)
    net = Locator()
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
        index = np.array([(n, i) for n, name in enumerate(names) for i in range(len(data[name]["present"]))])
        rng.shuffle(index)
        net.train()
        sums, seen = np.zeros(4), 0
        for a in range(0, len(index) - 31, 32):
            if clock.over():
                break
            part = index[a:a + 32]
            pixels = np.stack([data[names[n]]["locator"][i] for n, i in part])
            boxes = np.stack([data[names[n]]["cluster"][i] for n, i in part])
            present = np.array([data[names[n]]["present"][i] for n, i in part], np.float32)
            lit = np.array([data[names[n]]["lit"][i] for n, i in part], np.float32)
            if rng.random() < 0.5:   # mirrored pictures are as good for this task
                pixels = pixels[:, :, ::-1]
                boxes = np.stack([256 - boxes[:, 2], boxes[:, 1], 256 - boxes[:, 0], boxes[:, 3]], 1)
            dy, dx = (int(v) for v in rng.integers(-12, 13, 2))
            pixels = np.roll(pixels, (dy, dx), (1, 2))
            boxes = np.clip(boxes + np.array([dx, dy, dx, dy]), 0, 256)
            heats, positives, rows = [], [], []
            for i in range(len(part)):
                items = np.array([[0, *boxes[i]]]) if present[i] else np.zeros((0, 5))
                heat, pos = heat_targets(items, 1, 32, 32, 8)
                heats.append(heat)
                positives.append(pos)
                rows.append(np.full(len(pos), i))
            x = colour_jitter(to_input(pixels))
            clock.tick()
            with torch.autocast("cpu", torch.bfloat16):
                heat, box, p, l = net(x)
            has = torch.from_numpy(present)
            # One cluster in eight is without power, so those count more.
            known = (torch.from_numpy(lit) < 1.5).float() + 2.5 * (torch.from_numpy(lit) < 0.5).float()
            parts = [
                focal(heat.float(), torch.from_numpy(np.stack(heats))),
                box_loss(box, torch.from_numpy(np.concatenate(rows)).long(), torch.from_numpy(np.concatenate(positives)), 8) * 2,
                F.binary_cross_entropy_with_logits(p.float(), has * 0.98 + 0.01) * 2,
                (F.binary_cross_entropy_with_logits(l.float(), torch.from_numpy(lit).clamp(0, 1), reduction="none") * known).sum() / known.sum().clamp(min=1) * 2,
            ]
            loss = sum(parts)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            average.update(net)
            sums, seen = sums + np.array([float(v.detach()) for v in parts]), seen + 1
        epoch += 1
        average.save(args.out / "locator.pt")
        held = shards(args.data, "held_out", KEYS, None, "scenes")
        print(f"epoch {epoch}: {len(index)} pictures, heat/box/presence/lit {np.round(sums / max(1, seen), 4)} held-out: {evaluate(average.net, held) if held else ''} time {clock.share():.0%}", flush=True)


if __name__ == "__main__":
    main()

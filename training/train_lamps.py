"""Train the lamp classifier.

    python -m training.train_lamps --data DIR --out DIR --minutes 8
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from .labels import LAMP_CODES
from .learning import Average, Clock, arguments, colour_jitter, shards, to_input
from .networks import Lamps

KEYS = ["lamp", "lamp_class"]


def main() -> None:
    args = arguments(__doc__)
    rng = np.random.default_rng(args.seed)
    net = Lamps(len(LAMP_CODES))
    if args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(memory_format=torch.channels_last)
    average = Average(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=2e-2)
    clock = Clock(optimiser, args.minutes, args.rate)
    data, epoch = {}, 0
    while not clock.over():
        data = shards(args.data, "train", KEYS, data)
        pixels = np.concatenate([d["lamp"] for d in data.values()])
        classes = np.concatenate([d["lamp_class"] for d in data.values()]).astype(np.int64)
        order = rng.permutation(len(classes))
        net.train()
        total, seen = 0.0, 0
        for a in range(0, len(order) - 63, 64):
            if clock.over():
                break
            part = order[a:a + 64]
            x = pixels[part]
            dy, dx = (int(v) for v in rng.integers(-3, 4, 2))
            x = colour_jitter(to_input(np.roll(x, (dy, dx), (1, 2))), 0.25)
            clock.tick()
            with torch.autocast("cpu", torch.bfloat16):
                logits = net(x)
            loss = F.cross_entropy(logits.float(), torch.from_numpy(classes[part]), label_smoothing=0.05)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            average.update(net)
            total, seen = total + float(loss.detach()), seen + 1
        epoch += 1
        average.save(args.out / "lamps.pt")
        held = shards(args.data, "held_out", KEYS)
        report = ""
        if held:
            x = np.concatenate([d["lamp"] for d in held.values()])
            y = np.concatenate([d["lamp_class"] for d in held.values()])
            with torch.no_grad():
                p = torch.cat([average.net(to_input(x[i:i + 200])).argmax(1) for i in range(0, len(x), 200)]).numpy()
            lit = y > 0
            report = f"held-out lit right {np.mean(p[lit] == y[lit]):.4f} (n {lit.sum()}), none kept {np.mean(p[~lit] == 0):.4f} (n {(~lit).sum()})"
        print(f"epoch {epoch}: {len(classes)} crops, loss {total / max(1, seen):.4f} {report} time {clock.share():.0%}", flush=True)


if __name__ == "__main__":
    main()

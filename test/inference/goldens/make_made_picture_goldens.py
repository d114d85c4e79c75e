"""Computes `made-pictures.json`: what packages make of the answers of matting networks, and of pictures that are enlarged or
restored. `alpha-matte` and `image-to-image` are held to it by made-pictures.test.ts.

    pip install -r test/inference/goldens/requirements.txt
    pip install pymatting==1.1.15 pooch jsonschema
    pip install --no-deps rembg==2.0.86 carvekit==4.1.2 realesrgan==0.3.0
    python test/inference/goldens/make_made_picture_goldens.py > test/inference/goldens/made-pictures.json
    npx biome format --write test/inference/goldens

The architectures are those of the packages, with random weights from a seed: U²-Net of carvekit, the networks of
spandrel. What is done before and after them is rembg's and Real-ESRGAN's own code. Each network is exported to ONNX, and
what ONNX Runtime gives is what counts.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from PIL import Image
from scipy import ndimage

FOLDER = Path(tempfile.mkdtemp())


def as_tensor(values: np.ndarray) -> dict:
    return {"shape": list(values.shape), "data": base64.b64encode(values.astype("<f4").tobytes()).decode()}


def as_bytes(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, np.uint8).tobytes()).decode()


def test_picture(width: int, height: int) -> np.ndarray:
    """[height, width, 3] RGB. The same formula stands in exported-models.ts."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * 2 + y * 3 + (x * y) % 7 * 4 + channel * 61) % 256 for channel in range(3)]
    return np.stack(planes, -1).astype(np.uint8)


def scene(side: int) -> np.ndarray:
    """[1, 3, side, side], 0 to 1: soft spots of colour."""
    soft = ndimage.gaussian_filter(np.random.default_rng(3).random((3, side, side)), (0, side / 12, side / 12))
    return ((soft - soft.min()) / (soft.max() - soft.min()))[None].astype(np.float32)


def exported(network: torch.nn.Module, height: int, width: int) -> onnxruntime.InferenceSession:
    """One picture in, the first output out."""
    path = FOLDER / f"{len(list(FOLDER.iterdir()))}.onnx"
    with torch.no_grad():
        torch.onnx.export(network.eval(), (torch.rand(1, 3, height, width),), str(path), opset_version=18,
                          input_names=["input"], output_names=["output"], dynamo=False)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options)


# --- Mattes -----------------------------------------------------------------------------------------------------------


class First(torch.nn.Module):
    """Of seven maps the first, which is the one that counts; with `logits`, before the sigmoid at its end."""

    def __init__(self, network: torch.nn.Module, *, logits: bool):
        super().__init__()
        self.network, self.logits = network, logits

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        alpha = self.network(picture)[0]
        return torch.logit(alpha, 1e-6) if self.logits else alpha


def u2net() -> torch.nn.Module:
    """U²-Net, with an eighth of its channels."""
    from carvekit.ml.arch.u2net.u2net import U2NETArchitecture

    full = {"stage1": ("En_1", (7, 3, 32, 64), -1), "stage2": ("En_2", (6, 64, 32, 128), -1),
            "stage3": ("En_3", (5, 128, 64, 256), -1), "stage4": ("En_4", (4, 256, 128, 512), -1),
            "stage5": ("En_5", (4, 512, 256, 512, True), -1), "stage6": ("En_6", (4, 512, 256, 512, True), 512),
            "stage5d": ("De_5", (4, 1024, 256, 512, True), 512), "stage4d": ("De_4", (4, 1024, 128, 256), 256),
            "stage3d": ("De_3", (5, 512, 64, 128), 128), "stage2d": ("De_2", (6, 256, 32, 64), 64),
            "stage1d": ("De_1", (7, 128, 16, 64), 64)}
    small = {stage: [name, tuple(value if value in (True, 3) or index == 0 else value // 8 for index, value in enumerate(block)),
                     side if side < 0 else side // 8] for stage, (name, block, side) in full.items()}
    torch.manual_seed(31)
    network = U2NETArchitecture(small, 1)
    # Batch normalisation as after training, and an answer that differs from place to place without being certain.
    network.train()
    with torch.no_grad():
        for shift in range(20):
            network(torch.from_numpy(np.roll(scene(128), 16 * shift, 3)).repeat(2, 1, 1, 1) * 4 - 2)
        network.eval()
        said = torch.logit(network(torch.from_numpy(scene(64)) * 4 - 2)[0], 1e-6)
        network.outconv.weight.mul_(0.8 / said.std())
        network.outconv.bias.sub_(said.mean()).mul_(0.8 / said.std())
    return network


def mattes() -> list[dict]:
    from rembg.sessions.base import BaseSession
    from rembg.sessions.birefnet_general import BiRefNetSessionGeneral
    from rembg.sessions.u2net import U2netSession

    side = 64
    network, cases = u2net(), []
    for name, kind, logits in (("U²-Net", U2netSession, False), ("BiRefNet", BiRefNetSessionGeneral, True)):
        runtime = exported(First(network, logits=logits), side, side)
        for width, height in ((97, 61), (24, 18)):
            seen: list[np.ndarray] = []

            def run(_, feeds, runtime=runtime, seen=seen):
                [said] = runtime.run(None, {"input": feeds["input"]})
                seen.append(said)
                return [said]

            # rembg's own code, at another size than its 320 or 1,024 pixels.
            session = kind.__new__(kind)
            session.inner_session = types.SimpleNamespace(run=run, get_inputs=lambda: [types.SimpleNamespace(name="input")])
            session.normalize = lambda image, mean, std, size, *_: BaseSession.normalize(session, image, mean, std, (side, side))
            shown = Image.fromarray(np.round(scene(128)[0].transpose(1, 2, 0) * 255).astype(np.uint8))
            [mask] = session.predict(shown.resize((width, height)))
            cases.append({"name": name, "width": width, "height": height, "values": "logits" if logits else "probabilities",
                          "output": as_tensor(seen[0]), "mask": as_bytes(np.asarray(mask))})
    return cases


# --- Pictures from pictures ---------------------------------------------------------------------------------------------


def real_esrgan():
    """Real-ESRGAN's procedure: its package, without basicsr, of which only a function for downloads is used here."""
    for name in ("basicsr", "basicsr.utils", "basicsr.utils.download_util"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["basicsr.utils.download_util"].load_file_from_url = None
    spec = importlib.util.find_spec("realesrgan")
    source = Path(spec.submodule_search_locations[0]) / "utils.py"
    loaded = importlib.util.spec_from_file_location("realesrgan_utils", source)
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    return module.RealESRGANer


def enhanced(network: torch.nn.Module, scale: int, picture: np.ndarray, **settings) -> np.ndarray:
    """What Real-ESRGAN's procedure makes of a picture."""
    weights = FOLDER / f"{len(list(FOLDER.iterdir()))}.pth"
    torch.save({"params": network.state_dict()}, weights)
    enhancer = real_esrgan()(scale=scale, model_path=str(weights), model=network.eval(), device="cpu", **settings)
    made, _ = enhancer.enhance(picture[..., ::-1].copy())
    return made[..., ::-1]


def real_esrgan_tiles() -> dict:
    """The network of `exported/enlarging.onnx`, by Real-ESRGAN's own tiles with its own margins."""
    from spandrel.architectures.Compact.__arch.SRVGG import SRVGGNetCompact

    torch.manual_seed(29)
    network = SRVGGNetCompact(num_in_ch=3, num_out_ch=3, num_feat=8, num_conv=2, upscale=2, act_type="prelu").eval()
    for parameter in network.parameters():
        parameter.data = parameter.data.half().float()
    made = enhanced(network, 2, test_picture(75, 50), tile=24, tile_pad=10, pre_pad=10)
    return {"width": 75, "height": 50, "scale": 2, "pixels": as_bytes(made)}


def rrdb() -> torch.nn.Module:
    """ESRGAN and Real-ESRGAN: RealESRGAN_x2plus with fewer layers."""
    from spandrel.architectures.ESRGAN.__arch.RRDB import RRDBNet

    return RRDBNet(in_nc=12, num_filters=8, num_blocks=2, scale=4, shuffle_factor=2)


def swinir() -> torch.nn.Module:
    from spandrel.architectures.SwinIR.__arch.SwinIR import SwinIR

    return SwinIR(img_size=24, window_size=8, embed_dim=12, depths=[2, 2], num_heads=[2, 2], mlp_ratio=2, upscale=2,
                  upsampler="pixelshuffledirect")


def nafnet() -> torch.nn.Module:
    from spandrel.architectures.NAFNet.__arch.NAFNet_arch import NAFNet

    network = NAFNet(width=8, middle_blk_num=1, enc_blk_nums=[1, 1], dec_blk_nums=[1, 1])
    for name, parameter in network.named_parameters():
        # 0 before training: the network would change nothing.
        if name.endswith(("beta", "gamma")):
            torch.nn.init.normal_(parameter, std=0.5)
    return network


def tiled() -> list[dict]:
    """Of each network the picture made whole, and what its export says of two tiles that overlap by a third."""
    # The tiles begin where SwinIR's windows of 8 pixels do: elsewhere it sees other windows, and random weights tell.
    side, width = 24, 40
    cases = []
    for name, make, scale in (("Real-ESRGAN (RRDB)", rrdb, 2), ("SwinIR", swinir, 2), ("NAFNet", nafnet, 1)):
        torch.manual_seed(37)
        network = make().eval()
        picture = test_picture(width, side)
        planes = picture.astype(np.float32).transpose(2, 0, 1)[None] / 255
        with torch.no_grad():
            said = network(torch.from_numpy(planes))
        # Random networks say next to nothing: with a gain on what they say they paint in the whole range.
        gain, shift = 0.22 / float(said.std()), 0.5 - 0.22 * float(said.mean() / said.std())
        levelled = torch.nn.Sequential(network, Levels(gain, shift)).eval()
        runtime = exported(levelled, side, side)
        tiles = [runtime.run(None, {"input": planes[..., start:start + side]})[0] for start in (0, width - side)]
        # Of scale 1 Real-ESRGAN's procedure asks for whole fours, which these are.
        whole = enhanced(levelled, scale, picture, tile=0, pre_pad=0)
        cases.append({"name": name, "width": width, "height": side, "tile": side, "overlap": 8, "scale": scale,
                      "tiles": [as_bytes(np.round(np.clip(tile[0].transpose(1, 2, 0), 0, 1) * 255)) for tile in tiles],
                      "pixels": as_bytes(whole)})
    return cases


class Levels(torch.nn.Module):
    def __init__(self, gain: float, shift: float):
        super().__init__()
        self.gain, self.shift = gain, shift

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return picture * self.gain + self.shift


def main() -> None:
    # The packages tell their progress on the standard output, which is for the numbers alone.
    with contextlib.redirect_stdout(sys.stderr):
        goldens = {"mattes": mattes(), "realEsrganTiles": real_esrgan_tiles(), "tiled": tiled()}
    json.dump(goldens, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

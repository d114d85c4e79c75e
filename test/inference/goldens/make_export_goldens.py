"""Computes `exports.json`: what networks say that were exported by their makers' own packages, and what the same packages
make of it. The decoders of `src/inference/toolkit/decoding/` are held to these answers.

    pip install -r test/inference/goldens/requirements.txt
    python test/inference/goldens/make_export_goldens.py > test/inference/goldens/exports.json
    npx biome format --write test/inference/goldens

Every network is built with random weights from a seed, but for the text detector and reader, whose weights come in the
package `rapidocr-onnxruntime`. No weights are kept, only numbers that the networks say. It also writes
`test/inference/exported/enlarging.onnx`, a network of 2,000 random weights.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["YOLO_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import cv2  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
import torchvision  # noqa: E402, F401  # Ultralytics takes its suppression from here where it is loaded.
import yaml  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402
from scipy import ndimage  # noqa: E402

SIDE = 64
FOLDER = Path(tempfile.mkdtemp())
EXPORTED = Path(__file__).parents[1] / "exported"


def as_tensor(values: np.ndarray) -> dict:
    return {"shape": list(values.shape), "data": base64.b64encode(values.astype("<f4").tobytes()).decode()}


def as_bytes(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, np.uint8).tobytes()).decode()


def numbers(values) -> list[float]:
    return [float(value) for value in np.asarray(values, np.float64).ravel()]


def test_picture(width: int, height: int) -> np.ndarray:
    """[height, width, 3] RGB. The same formula stands in exports.test.ts: smooth, with a fine pattern on top."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * 2 + y * 3 + (x * y) % 7 * 4 + channel * 61) % 256 for channel in range(3)]
    return np.stack(planes, -1).astype(np.uint8)


def scene(width: int, height: int) -> np.ndarray:
    """[1, 3, height, width], 0 to 1: soft spots of colour."""
    noise = np.random.default_rng(3).random((3, height, width))
    soft = ndimage.gaussian_filter(noise, (0, 5, 5))
    return ((soft - soft.min()) / (soft.max() - soft.min()))[None].astype(np.float32)


def run(path: str | Path, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options).run(None, feeds)


# --- Ultralytics ------------------------------------------------------------------------------------------------------


def calibrate(network: torch.nn.Module) -> None:
    """Batch normalisation as after training on pictures: else all that random networks say is nearly the same."""
    for layer in network.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None
            layer.reset_running_stats()
    network.train()
    with torch.no_grad():
        for shift in range(4):
            network(torch.from_numpy(np.roll(scene(2 * SIDE, 2 * SIDE), 16 * shift, axis=3)).repeat(2, 1, 1, 1))
    network.eval()


def tame(network: torch.nn.Module, side: int) -> None:
    """Scales the last layer of each branch of the head, so that what it says differs and nothing is certain."""
    head = network.model[-1]
    lasts = []
    for branch in ("cv2", "cv3", "cv4", "one2one_cv2", "one2one_cv3", "one2one_cv4"):
        for block in getattr(head, branch, None) or []:
            *_, last = [layer for layer in block.modules() if isinstance(layer, torch.nn.Conv2d)]
            lasts.append((branch, last))
    said = {}
    hooks = [last.register_forward_hook(lambda layer, _, output: said.setdefault(layer, output)) for _, last in lasts]
    with torch.no_grad():
        network(torch.from_numpy(scene(side, side)))
        for branch, last in lasts:
            if last not in said or last.bias is None:
                continue
            factor = 1.5 / float(said[last].std())
            last.weight.mul_(factor)
            last.bias.mul_(factor).sub_(said[last].mean((0, 2, 3)) * factor)
            if "cv3" in branch:
                last.bias.sub_(1)
            if "cv2" in branch:
                # Small boxes: near distances are likelier, or, where distances are said as they are, above 0.
                bins = last.out_channels // 4
                last.bias.add_(1.5 if bins == 1 else -torch.arange(bins).repeat(4) * 0.7)
    for hook in hooks:
        hook.remove()


def ultralytics_export(name: str, seed: int, changes: dict, side: int = SIDE, **arguments):
    """A network of random weights whose scores differ -> the file that Ultralytics exports."""
    import ultralytics

    source = next((Path(ultralytics.__file__).parent / "cfg/models").rglob(f"{name}.yaml"))
    settings = {**yaml.safe_load(source.read_text()), **changes, "scale": "n"}
    for layer in settings["head"]:
        # Eight planes of prototypes do, in place of 32.
        if "Segment" in str(layer[2]) and len(layer[3]) == 3:
            layer[3][1] = 8
    path = FOLDER / f"{name}-{seed}.yaml"
    path.write_text(yaml.safe_dump(settings))
    torch.manual_seed(seed)
    network = (ultralytics.RTDETR if "rtdetr" in name else ultralytics.YOLO)(str(path))
    if "rtdetr" not in name:
        calibrate(network.model)
        tame(network.model, side)
    return network.export(format="onnx", imgsz=side, simplify=False, opset=17, verbose=False, **arguments)


def suppressed(output: np.ndarray, classes: int, settings: dict, **more) -> np.ndarray:
    from ultralytics.utils.nms import non_max_suppression

    return non_max_suppression(torch.from_numpy(output.copy()), settings["score"], settings["overlap"], nc=classes,
                               max_det=settings["maximum"], **more)[0].numpy()


def threshold(scores: np.ndarray, share: float) -> float:
    """Between two scores, so that `share` of them lies above."""
    ordered = np.sort(scores.ravel())[::-1]
    place = max(1, int(len(ordered) * share))
    return round(float(ordered[place - 1] + ordered[place]) / 2, 6)


def found_of(rows: np.ndarray) -> list[dict]:
    return [{"classIndex": int(row[5]), "score": float(row[4]), "box": numbers(row[:4])} for row in rows]


def yolo_detection() -> list[dict]:
    from ultralytics.utils.ops import scale_boxes

    cases = []
    for seed, name in enumerate(("yolov8", "yolo11")):
        [output] = run(ultralytics_export(name, seed, {"nc": 3}), {"images": scene(SIDE, SIDE)})
        settings = {"score": threshold(output[0, 4:].max(0), 0.6), "overlap": 0.45, "maximum": 20}
        rows = suppressed(output, 3, settings)
        picture = (97, 61)
        inside = scale_boxes((SIDE, SIDE), torch.from_numpy(rows[:, :4].copy()), (picture[1], picture[0])).numpy()
        cases.append({"name": name, "output": as_tensor(output), "classes": 3, "settings": settings, "found": found_of(rows),
                      "picture": picture, "inPicture": [numbers(row) for row in inside]})
    return cases


def yolo_end_to_end() -> list[dict]:
    cases = []
    for name, arguments in (("yolo26", {}), ("yolo11", {"nms": True, "conf": 0.05, "iou": 0.45})):
        [output] = run(ultralytics_export(name, 5, {"nc": 3}, **arguments), {"images": scene(SIDE, SIDE)})
        settings = {"score": threshold(output[0, :, 4][output[0, :, 4] > 0], 0.5), "overlap": 0.45, "maximum": 300}
        rows = suppressed(output, 3, settings, end2end=True)
        cases.append({"name": name, "output": as_tensor(output), "settings": settings, "found": found_of(rows)})
    return cases


def masked(rows: np.ndarray, prototypes: np.ndarray) -> list[dict]:
    """The largest piece of each row's mask. A hole that touches the outside, even by a corner, is no hole."""
    from ultralytics.utils.ops import process_mask

    masks = process_mask(torch.from_numpy(prototypes[0]), torch.from_numpy(rows[:, 6:].copy()),
                         torch.from_numpy(rows[:, :4].copy()), (SIDE, SIDE), upsample=True).numpy().astype(np.uint8)
    things = []
    for row, mask in zip(rows, masks, strict=True):
        regions, count = ndimage.label(mask)
        if count == 0:
            continue
        largest = regions == 1 + int(np.argmax(ndimage.sum(mask, regions, range(1, count + 1))))
        things.append({"classIndex": int(row[5]), "score": float(row[4]), "box": numbers(row[:4]),
                       "pixels": as_bytes(np.packbits(ndimage.binary_fill_holes(largest, np.ones((3, 3)))))})
    return things


def yolo_segmentation() -> list[dict]:
    cases = []
    for name, arguments in (("yolov8-seg", {}), ("yolo26-seg", {}), ("yolo11-seg", {"nms": True, "conf": 0.05, "iou": 0.45})):
        is_end_to_end = name == "yolo26-seg" or "nms" in arguments
        output, prototypes = run(ultralytics_export(name, 7, {"nc": 2}, **arguments), {"images": scene(SIDE, SIDE)})
        # Prototypes of random networks hover about one value; about 0 they part the picture.
        prototypes = (prototypes - prototypes.mean((2, 3), keepdims=True)).astype(np.float32)
        scores = output[0, :, 4][output[0, :, 4] > 0] if is_end_to_end else output[0, 4:6].max(0)
        settings = {"score": threshold(scores, 0.4), "overlap": 0.5, "maximum": 12}
        rows = suppressed(output, 2, settings, end2end=is_end_to_end)
        things = masked(rows, prototypes)
        cases.append({"name": name, "isEndToEnd": is_end_to_end, "output": as_tensor(output), "prototypes": as_tensor(prototypes),
                      "classes": 2, "size": SIDE, "settings": settings, "things": things})
    return cases


def yolo_pose() -> list[dict]:
    cases = []
    for name, arguments in (("yolov8-pose", {}), ("yolo26-pose", {}), ("yolo11-pose", {"nms": True, "conf": 0.05, "iou": 0.45})):
        is_end_to_end = name == "yolo26-pose" or "nms" in arguments
        exported = ultralytics_export(name, 9, {"nc": 1, "kpt_shape": [4, 3]}, **arguments)
        [output] = run(exported, {"images": scene(SIDE, SIDE)})
        scores = output[0, :, 4][output[0, :, 4] > 0] if is_end_to_end else output[0, 4]
        settings = {"score": threshold(scores, 0.5), "overlap": 0.5, "maximum": 12}
        rows = suppressed(output, 1, settings, end2end=is_end_to_end)
        found = [{**each, "keypoints": [numbers(point[:2]) for point in row[6:].reshape(4, 3)]}
                 for each, row in zip(found_of(rows), rows, strict=True)]
        cases.append({"name": name, "isEndToEnd": is_end_to_end, "output": as_tensor(output), "classes": 1, "keypoints": 4,
                      "values": 3, "settings": settings, "found": found})
    return cases


def yolo_obb() -> list[dict]:
    from ultralytics.utils.ops import xywhr2xyxyxyxy

    cases = []
    for name, arguments in (("yolov8-obb", {}), ("yolo26-obb", {}), ("yolo11-obb", {"nms": True, "conf": 0.05, "iou": 0.3})):
        is_end_to_end = name == "yolo26-obb" or "nms" in arguments
        [output] = run(ultralytics_export(name, 11, {"nc": 2}, **arguments), {"images": scene(SIDE, SIDE)})
        scores = output[0, :, 4][output[0, :, 4] > 0] if is_end_to_end else output[0, 4:6].max(0)
        settings = {"score": threshold(scores, 0.7), "overlap": 0.3, "maximum": 30}
        rows = suppressed(output, 2, settings, rotated=True, end2end=is_end_to_end)
        corners = xywhr2xyxyxyxy(torch.from_numpy(np.concatenate([rows[:, :4], rows[:, -1:]], 1))).numpy()
        found = [{"classIndex": int(row[5]), "score": float(row[4]), "corners": [numbers(point) for point in quad]}
                 for row, quad in zip(rows, corners, strict=True)]
        cases.append({"name": name, "isEndToEnd": is_end_to_end, "output": as_tensor(output), "classes": 2,
                      "settings": settings, "found": found})
    return cases


def yolo_classification() -> dict:
    """The exported network says probabilities: the head has its softmax inside."""
    exported = ultralytics_export("yolo11-cls", 13, {"nc": 5})
    [output] = run(exported, {"images": scene(SIDE, SIDE)})
    return {"output": as_tensor(output), "sum": float(output.sum())}


def ultralytics_rtdetr() -> dict:
    """RT-DETR as Ultralytics exports it, and as its predictor reads it."""
    side = 160
    [output] = run(ultralytics_export("rtdetr-resnet50", 15, {"nc": 3}, side), {"images": scene(side, side)})
    # Sixty of its 300 rows do.
    return rtdetr_predicted(output[:, ::5], side)


def rtdetr_predicted(output: np.ndarray, side: int) -> dict:
    from types import SimpleNamespace

    from ultralytics.models.rtdetr import RTDETRPredictor

    settings = {"score": threshold(output[0, :, 4], 0.4)}
    predictor = SimpleNamespace(args=SimpleNamespace(conf=settings["score"], classes=None, max_det=300), batch=[["picture"]],
                                model=SimpleNamespace(names={index: str(index) for index in range(3)}))
    [said] = RTDETRPredictor.postprocess(predictor, torch.from_numpy(output.copy()), None, [np.zeros((side, side, 3), np.uint8)])
    rows = sorted(said.boxes.data.numpy(), key=lambda row: -row[4])
    return {"output": as_tensor(output), "size": side, "settings": settings, "found": found_of(rows)}


def letterboxes() -> list[dict]:
    """Ultralytics' own: OpenCV's bilinear, which takes no account of how far it shrinks."""
    from ultralytics.data.augment import LetterBox

    cases = []
    for width, height, side in ((97, 61, 64), (97, 61, 32), (40, 90, 64), (30, 20, 48)):
        fitted = LetterBox((side, side))(image=test_picture(width, height))
        cases.append({"width": width, "height": height, "side": side, "pixels": as_bytes(fitted)})
    return cases


def centre_crops() -> list[dict]:
    """What classifiers see: Ultralytics' transforms, and torchvision's with the share of ImageNet."""
    from torchvision import transforms
    from ultralytics.data.augment import classify_transforms

    cases = []
    for width, height, side in ((97, 61, 32), (40, 90, 32)):
        seen = classify_transforms(side)(Image.fromarray(test_picture(width, height))).numpy()
        cases.append({"width": width, "height": height, "side": side, "crop": 1,
                      "pixels": as_bytes(np.round(seen.transpose(1, 2, 0) * 255))})
        steps = transforms.Compose([transforms.Resize(round(side / 0.875)), transforms.CenterCrop(side)])
        cases.append({"width": width, "height": height, "side": side, "crop": 0.875,
                      "pixels": as_bytes(np.asarray(steps(Image.fromarray(test_picture(width, height)))))})
    return cases


# --- Transformers -----------------------------------------------------------------------------------------------------


class Outputs(torch.nn.Module):
    def __init__(self, network: torch.nn.Module, names: tuple[str, ...]):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, pixel_values):
        said = self.network(pixel_values)
        return tuple(getattr(said, name) for name in self.names)


def transformers_export(network: torch.nn.Module, names: tuple[str, ...]) -> list[np.ndarray]:
    path = FOLDER / f"{type(network).__name__}.onnx"
    picture = scene(SIDE, SIDE)
    torch.onnx.export(Outputs(network.eval(), names), (torch.from_numpy(picture),), str(path), opset_version=18,
                      input_names=["pixel_values"], output_names=list(names), dynamo=False)
    return run(path, {"pixel_values": picture})


def spread(network: torch.nn.Module, name: str, std: float) -> None:
    """Random heads say nearly the same of everything; with larger weights they differ."""
    for path, parameter in network.named_parameters():
        if name in path and path.endswith("weight") and parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=std)


def detr() -> list[dict]:
    from transformers import (DFineConfig, DFineForObjectDetection, RTDetrConfig, RTDetrForObjectDetection, RTDetrImageProcessor,
                              RTDetrResNetConfig, RTDetrV2Config, RTDetrV2ForObjectDetection)
    from transformers.models.rt_detr.modeling_rt_detr import RTDetrObjectDetectionOutput

    small = dict(encoder_hidden_dim=16, d_model=16, num_queries=20, decoder_layers=2, decoder_attention_heads=2,
                 encoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, encoder_in_channels=[8, 16, 16],
                 decoder_in_channels=[16, 16, 16], num_labels=4, num_denoising=0, decoder_n_points=2)
    cases = []
    for name, config_type, network_type in (("rt-detr", RTDetrConfig, RTDetrForObjectDetection),
                                            ("rt-detr-v2", RTDetrV2Config, RTDetrV2ForObjectDetection),
                                            ("d-fine", DFineConfig, DFineForObjectDetection)):
        torch.manual_seed(17)
        backbone = RTDetrResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic",
                                      out_features=["stage2", "stage3", "stage4"])
        network = network_type(config_type(backbone_config=backbone, **small))
        spread(network, "class_embed", 0.5)
        spread(network, "bbox_embed", 0.3)
        logits, boxes = transformers_export(network, ("logits", "pred_boxes"))
        settings = {"score": threshold(1 / (1 + np.exp(-logits)), 0.2), "maximum": logits.shape[1]}
        said = RTDetrObjectDetectionOutput(logits=torch.from_numpy(logits), pred_boxes=torch.from_numpy(boxes))
        [kept] = RTDetrImageProcessor().post_process_object_detection(said, threshold=settings["score"], target_sizes=[(48, 80)])
        cases.append({"name": name, "boxes": as_tensor(boxes), "logits": as_tensor(logits), "width": 80, "height": 48,
                      "settings": settings, "found": transformers_found(kept)})
    return cases


def transformers_found(kept: dict) -> list[dict]:
    rows = [{"classIndex": int(label), "score": float(score), "box": numbers(box)}
            for label, score, box in zip(kept["labels"], kept["scores"].detach(), kept["boxes"].detach(), strict=True)]
    return sorted(rows, key=lambda row: -row["score"])


def detr_softmax() -> dict:
    """The first DETR: one class for each query, the last of them for nothing."""
    from transformers import DetrConfig, DetrForObjectDetection, DetrImageProcessor, ResNetConfig
    from transformers.models.detr.modeling_detr import DetrObjectDetectionOutput

    torch.manual_seed(19)
    backbone = ResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic",
                            out_features=["stage4"])
    network = DetrForObjectDetection(DetrConfig(use_timm_backbone=False, backbone=None, use_pretrained_backbone=False,
                                                backbone_config=backbone, d_model=16, num_queries=20, encoder_layers=1,
                                                decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                                                encoder_ffn_dim=32, decoder_ffn_dim=32, num_labels=4))
    spread(network, "class_labels_classifier", 1.5)
    spread(network, "bbox_predictor", 0.8)
    torch.nn.init.normal_(network.model.query_position_embeddings.weight, std=3)
    logits, boxes = transformers_export(network, ("logits", "pred_boxes"))
    said = DetrObjectDetectionOutput(logits=torch.from_numpy(logits), pred_boxes=torch.from_numpy(boxes))
    shares = torch.softmax(said.logits, -1)[0, :, :-1].max(-1).values.numpy()
    settings = {"score": threshold(shares, 0.5), "maximum": 20}
    [kept] = DetrImageProcessor().post_process_object_detection(said, threshold=settings["score"], target_sizes=[(48, 80)])
    return {"boxes": as_tensor(boxes), "logits": as_tensor(logits), "width": 80, "height": 48, "settings": settings,
            "found": transformers_found(kept)}


def segformer() -> dict:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation, SegformerImageProcessor
    from transformers.modeling_outputs import SemanticSegmenterOutput

    torch.manual_seed(23)
    network = SegformerForSemanticSegmentation(SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16],
                                                               num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16, num_labels=4))
    torch.nn.init.normal_(network.decode_head.classifier.weight, std=2)
    [logits] = transformers_export(network, ("logits",))
    # What random networks say hovers about one value for each class; about 0 the classes part the picture.
    logits = ((logits - logits.mean((2, 3), keepdims=True)) / logits.std((2, 3), keepdims=True)).astype(np.float32)
    said = SemanticSegmenterOutput(logits=torch.from_numpy(logits))
    [classes] = SegformerImageProcessor().post_process_semantic_segmentation(said, target_sizes=[(SIDE, SIDE)])
    classes = classes.numpy()
    large = torch.nn.functional.interpolate(said.logits.double(), size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    shares = torch.softmax(large, 1).amax(1)[0].numpy()
    minimum = 12
    things = []
    for index in range(1, 4):
        regions, count = ndimage.label(classes == index)
        for region in range(1, count + 1):
            y, x = np.nonzero(regions == region)
            if len(x) >= minimum:
                things.append({"classIndex": index, "score": float(shares[y, x].mean()),
                               "box": [int(x.min()), int(y.min()), int(x.max()) + 1, int(y.max()) + 1]})
    things.sort(key=lambda thing: -thing["score"])
    # What the network was given by its own processor.
    picture = test_picture(97, 61)
    given = SegformerImageProcessor(size={"height": 32, "width": 48})(Image.fromarray(picture), return_tensors="np")["pixel_values"]
    mean, std = SegformerImageProcessor().image_mean, SegformerImageProcessor().image_std
    return {"logits": as_tensor(logits), "size": SIDE, "minimumPixels": minimum, "found": things,
            "input": {"width": 97, "height": 61, "mean": numbers(mean), "std": numbers(std), "tensor": as_tensor(given)}}


# --- PP-OCR, with the weights that rapidocr-onnxruntime carries ---------------------------------------------------------


def print_picture() -> np.ndarray:
    """[64, 320, 3] RGB: two lines of print, one of them turned."""
    picture = Image.new("RGB", (320, 64), (214, 216, 210))
    font = ImageFont.truetype("DejaVuSans-Bold.ttf", 22)
    ImageDraw.Draw(picture).text((14, 18), "HH AB 1234", fill=(20, 20, 24), font=font)
    turned = Image.new("RGBA", (120, 40))
    ImageDraw.Draw(turned).text((6, 6), "KM 5678", fill=(20, 20, 24, 255), font=font)
    turned = turned.rotate(8, expand=True, resample=Image.BICUBIC)
    picture.paste(turned, (186, 2), turned)
    return np.asarray(picture)


def pp_ocr() -> dict:
    import rapidocr_onnxruntime
    from rapidocr_onnxruntime.ch_ppocr_det.utils import DBPostProcess
    from rapidocr_onnxruntime.ch_ppocr_rec.utils import CTCLabelDecode

    models = Path(rapidocr_onnxruntime.__file__).parent / "models"
    picture = print_picture()
    height, width = picture.shape[:2]
    # Both networks were trained on the channels as OpenCV reads them.
    planes = picture[..., ::-1].astype(np.float32).transpose(2, 0, 1)[None] / 255
    mean, std = np.array([0.485, 0.456, 0.406]).reshape(3, 1, 1), np.array([0.229, 0.224, 0.225]).reshape(3, 1, 1)
    [detector] = models.glob("*det_infer.onnx")
    session = onnxruntime.InferenceSession(str(detector))
    [shares] = session.run(None, {session.get_inputs()[0].name: ((planes - mean) / std).astype(np.float32)})
    levels = np.round(shares[0, 0] * 255).astype(np.uint8)
    settings = {"threshold": 0.3, "score": 0.5, "unclip": 1.6}
    read = DBPostProcess(thresh=settings["threshold"], box_thresh=settings["score"], unclip_ratio=settings["unclip"],
                         score_mode="slow", use_dilation=False)
    boxes, scores = read((levels / 255).astype(np.float32)[None, None], (height, width))
    found = sorted(({"score": float(score), "corners": [numbers(point) for point in box]}
                    for box, score in zip(boxes, scores, strict=True)), key=lambda each: -each["score"])

    [reader] = models.glob("*rec_infer.onnx")
    session = onnxruntime.InferenceSession(str(reader))
    characters = session.get_modelmeta().custom_metadata_map["character"].splitlines()
    decode = CTCLabelDecode(character=characters)
    lines = []
    for left, top, right, bottom in ((8, 14, 172, 46),):
        line = Image.fromarray(picture[top:bottom, left:right, ::-1].copy())
        line = line.resize((round(line.width * 48 / line.height), 48), Image.BILINEAR)
        padded = np.zeros((3, 48, 320), np.float32)
        padded[:, :, : line.width] = (np.asarray(line, np.float32) / 255 - 0.5).transpose(2, 0, 1) / 0.5
        [said] = session.run(None, {session.get_inputs()[0].name: padded[None]})
        [[text, sure]] = decode(said)[0] if isinstance(decode(said), tuple) else decode(said)
        # Of 6,625 classes those that matter: the blank, the five likeliest of each step, and a few more.
        kept = sorted({0, *range(1, 12), *np.argsort(said[0], 1)[:, -5:].ravel().tolist()})
        lines.append({"output": as_tensor(said[:, :, kept]), "labels": [decode.character[index] for index in kept], "text": text,
                      "confidence": float(sure)})
    return {"width": width, "height": height, "levels": as_bytes(levels), "settings": settings, "found": found, "lines": lines}


# --- A network that enlarges --------------------------------------------------------------------------------------------


def enlarging() -> dict:
    """Real-ESRGAN's compact architecture with random weights: what it makes of a whole picture, without tiles."""
    from spandrel.architectures.Compact.__arch.SRVGG import SRVGGNetCompact

    torch.manual_seed(29)
    network = SRVGGNetCompact(num_in_ch=3, num_out_ch=3, num_feat=8, num_conv=2, upscale=2, act_type="prelu").eval()
    for parameter in network.parameters():
        parameter.data = parameter.data.half().float()
    tile = torch.zeros(1, 3, 32, 32)
    torch.onnx.export(network, (tile,), str(EXPORTED / "enlarging.onnx"), opset_version=18, input_names=["input"],
                      output_names=["output"], dynamo=True, external_data=False)
    picture = test_picture(75, 50)
    with torch.no_grad():
        made = network(torch.from_numpy(picture.astype(np.float32).transpose(2, 0, 1)[None] / 255))[0].numpy()
    return {"width": 75, "height": 50, "scale": 2,
            "pixels": as_bytes(np.round(np.clip(made.transpose(1, 2, 0), 0, 1) * 255))}


MAKERS = {"yoloDetection": yolo_detection, "yoloEndToEnd": yolo_end_to_end, "yoloSegmentation": yolo_segmentation,
          "yoloPose": yolo_pose, "yoloObb": yolo_obb, "yoloClassification": yolo_classification,
          "ultralyticsRtDetr": ultralytics_rtdetr, "letterboxes": letterboxes, "centreCrops": centre_crops, "detr": detr,
          "detrSoftmax": detr_softmax, "segformer": segformer, "ppOcr": pp_ocr, "enlarging": enlarging}


def main() -> None:
    # The packages tell their progress on the standard output, which is for the numbers alone.
    with contextlib.redirect_stdout(sys.stderr):
        goldens = {name: make() for name, make in MAKERS.items() if len(sys.argv) < 2 or name in sys.argv[1:]}
    json.dump(goldens, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

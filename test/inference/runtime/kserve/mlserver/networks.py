"""Two networks that compute what a test knows, for MLServer: y = x + 1, and the mean of each colour of a picture."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse, ResponseOutput


class AddOne(MLModel):
    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        x = NumpyCodec.decode_input(payload.inputs[0])
        if (x < 0).any():
            raise ValueError("x is below 0")
        return answer(self, "y", (x + 1).astype(np.float32))


class ColourMeans(MLModel):
    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        images = NumpyCodec.decode_input(payload.inputs[0])
        return answer(self, "means", images.mean(axis=(2, 3)).astype(np.float32))


def answer(model: MLModel, name: str, values: np.ndarray) -> InferenceResponse:
    # Not by NumpyCodec, which makes [N] to [N, 1].
    output = ResponseOutput(name=name, shape=list(values.shape), datatype="FP32", data=values.ravel().tolist())
    return InferenceResponse(model_name=model.name, model_version=model.version, outputs=[output])

/** The refusal of a GPU says what to install. The texts are those of ONNX Runtime 1.30. */
import { expect, test } from 'vitest';
import { reasonIn } from '../../../src/inference/runtime/require-device.ts';

const NOT_LOADED = 'OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library';
const printing = (error: string) =>
  '\u001b[1;31m2026-11-21 19:11:14.26 [E:onnxruntime:onnxruntime-node, provider_bridge_ort.cc:2146 Create] ' +
  'onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library ' +
  `/app/libonnxruntime_providers_cuda.so with error: ${error}\n\u001b[m\n`;

test.each([
  {
    what: 'the libraries of the provider are not installed',
    problem: NOT_LOADED,
    printed: printing(
      '/app/libonnxruntime_providers_shared.so: cannot open shared object file: No such file or directory',
    ),
    reason: 'libonnxruntime_providers_shared.so: cannot open shared object file: No such file or directory',
  },
  {
    what: 'a library of CUDA is not installed',
    problem: NOT_LOADED,
    printed: printing('libcublasLt.so.13: cannot open shared object file: No such file or directory'),
    reason: 'libcublasLt.so.13: cannot open shared object file: No such file or directory',
  },
  {
    what: 'the driver is too old, or there is none',
    problem:
      '/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_call.cc:146 onnxruntime::CudaCall(ERRTYPE, const char*) ' +
      'CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1 ; hostname=vm ; line=352 ; \n\n',
    printed: '',
    reason: 'CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version',
  },
  {
    what: 'ONNX Runtime says something else',
    problem: 'no such device\nat all',
    printed: 'Warning: slow\n',
    reason: 'no such device at all',
  },
])('the reason states in one line that $what', ({ problem, printed, reason }) => {
  expect(reasonIn(problem, printed)).toBe(reason);
});

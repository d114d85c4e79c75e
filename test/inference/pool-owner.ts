/** A program that owns a pool of child processes: prints their process ids, then stays until it is killed. */
import { fileURLToPath } from 'node:url';
import { createOnnxBackend } from '../../src/inference/onnx-backend.ts';
import { endpointsDirectory, modelsDirectory, noArtefacts, recordingLog, tinyAdd } from './tiny-endpoint.ts';

const backend = await createOnnxBackend({
  modelsDirectory: fileURLToPath(modelsDirectory),
  store: { get: () => Promise.reject(new Error('unused')) },
  writeArtefact: noArtefacts,
  children: 2,
  threads: 1,
  logger: recordingLog().log,
  endpoints: [tinyAdd],
  endpointsDirectory,
});
console.log(JSON.stringify(backend.pids));

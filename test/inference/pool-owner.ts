import { createTinyBackend, recordingLog } from './tiny-endpoint.ts';

const backend = await createTinyBackend({
  store: { get: () => Promise.reject(new Error('unused')) },
  children: 2,
  logger: recordingLog().log,
});
console.log(JSON.stringify(backend.pids));

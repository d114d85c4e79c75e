/** The API with the workers that price by books, in this process, for tests through HTTP. */
import type { WriteArtefact } from '../../src/artefacts/artefact-writer.ts';
import { inspectArtefact } from '../../src/artefacts/inspection/inspect-artefact.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { createValuationBackend, type ValuationBackend } from '../../src/inference/backends/valuation-backend.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { newId } from '../../src/platform/ids.ts';
import { startTestApi, type TestApi } from './api.ts';
import { expectLedgerToBalance } from './ledger.ts';
import { inferenceWorker, orchestrationWorker, startTestWorkers } from './workers.ts';

export interface ValuationService {
  api: TestApi;
  backend: ValuationBackend;
  /** The files of reports, by media type; the last of each. */
  files: ReadonlyMap<string, Buffer>;
  /** As the worker does it, from time to time. */
  announce(): Promise<void>;
  /** Fails if the ledger does not balance. */
  close(): Promise<void>;
}

export async function startValuationService(): Promise<ValuationService> {
  const files = new Map<string, Buffer>();
  const writeArtefact: WriteArtefact = async ({ content, mediaType, extension }) => {
    inspectArtefact(content, mediaType);
    files.set(mediaType, Buffer.from(content));
    const id = newId('artefact');
    const [object, bytes] = ['artefact' as const, content.byteLength];
    const url = `https://files.example.com/${id}.${extension}`;
    return { id, object, media_type: mediaType, bytes, width: null, height: null, url, expires_at: 2_000_000_000 };
  };
  const api = await startTestApi();
  const backend = await createValuationBackend({
    orm: api.orm,
    writeArtefact,
    logger: { info() {}, warn() {}, error() {} },
  });
  const workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    { ...inferenceWorker(api.orm, backend), taskQueue: TASK_QUEUES.valuation },
  ]);
  return {
    api,
    backend,
    files,
    async announce() {
      const before = backend.installedEndpoints();
      await backend.reload();
      const installed = backend.installedEndpoints();
      const gone = before.filter(({ endpoint }) => !installed.some((one) => one.endpoint === endpoint));
      await announceInstalledEndpoints(api.orm.em.fork(), installed, gone);
    },
    async close() {
      await workers.stop();
      await expectLedgerToBalance(api.databaseUrl);
      await api.close();
    },
  };
}

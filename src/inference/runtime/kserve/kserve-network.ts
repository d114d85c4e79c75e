/** A model file whose network runs on a KServe v2 server: only tensors travel. For child processes. */
import { ServiceError } from '../../../platform/service-error.ts';
import { versionOf } from '../../models/manifest.ts';
import type { InstalledModel } from '../../models/registry.ts';
import type { Network } from '../run-queue.ts';
import { BINARY_EXTENSION, decodeAnswer, encodeRequest, metadataProblems } from './kserve-protocol.ts';
import type { ServerAnswer, ServerRequest } from './kserve-servers.ts';

/** @throws the signal's reason when it is aborted */
export type AskParent = (request: ServerRequest, signal?: AbortSignal) => Promise<ServerAnswer>;

interface KserveFile {
  server: string;
  model: string;
  version?: string;
}

/** Statuses of a busy or restarting server. A 500 may be the inputs' fault. */
const MAY_PASS = [408, 425, 429, 502, 503, 504];
const QUOTED_CHARACTERS = 300;

/**
 * Checks that the server and its model are ready and that `model.json` agrees with the server's metadata.
 * @throws Error that names the file and the problem
 */
export async function openKserveNetwork(installed: InstalledModel, file: string, ask: AskParent): Promise<Network> {
  const { manifest } = installed;
  const entry = manifest.files[file];
  if (!entry?.kserve) throw new Error(`files.${file}.kserve is missing from model.json`);
  const { server } = entry.kserve;
  const modelPath = pathOf(entry.kserve);
  const fail = (problem: string) => new Error(`files.${file}.kserve: ${problem}`);

  const read = async (path: string): Promise<unknown> => {
    const answer = await ask({ server, path });
    if ('problem' in answer) throw fail(answer.problem);
    if (answer.status !== 200)
      throw fail(`${server} responds to ${path} with ${answer.status}${quote(answer.content)}`);
    return parseObject(answer.content);
  };
  await read('/v2/health/ready');
  await read(`${modelPath}/ready`);
  const { extensions } = (await read('/v2')) as { extensions?: unknown };
  const problems = metadataProblems(await read(modelPath), entry);
  if (problems.length > 0) {
    throw new Error(problems.map((problem) => `files.${file}.${problem}`).join('; '));
  }

  const isBinary = Array.isArray(extensions) && extensions.includes(BINARY_EXTENSION);
  return {
    modelVersion: versionOf(manifest),
    file,
    maximumBatch: entry.batch?.max ?? 1,
    run: async (inputs, signal) => {
      const { headers, body } = encodeRequest(inputs, entry, isBinary);
      const request = { server, path: `${modelPath}/infer`, body: { headers, content: body } };
      const answer = await ask(request, signal);
      if ('problem' in answer) {
        if (!answer.mayPass) throw fail(answer.problem);
        throw unavailable(answer.problem);
      }
      if (answer.status === 200) return decodeAnswer(Buffer.from(answer.content), answer.jsonLength, entry);
      const problem = `${server} responds with ${answer.status}${quote(answer.content)}`;
      throw MAY_PASS.includes(answer.status) ? unavailable(problem) : fail(problem);
    },
  };
}

function pathOf({ model, version }: KserveFile): string {
  return `/v2/models/${model}${version === undefined ? '' : `/versions/${version}`}`;
}

function unavailable(reason: string): ServiceError {
  return new ServiceError('model_unavailable', 'The model cannot be reached at the moment. Send the request again.', {
    cause: new Error(reason),
  });
}

/** A server's error text, for the log. */
function quote(content: Uint8Array): string {
  const text = Buffer.from(content).toString('utf8').slice(0, QUOTED_CHARACTERS).trim();
  return text === '' ? '' : `: ${text}`;
}

/** Empty for a body that is missing or not a JSON object. */
function parseObject(content: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(content).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

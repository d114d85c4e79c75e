/** Hands jobs to clusters that run whole pipelines. What they find comes back over `/internal/v1`. */
import type { RemoteEndpoint } from '../../config/remote-servers.ts';
import type { RemoteRun } from '../../contracts/dispatch.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { DispatchTokens } from '../../domain/dispatch-tokens.ts';
import { epochSeconds } from '../../domain/job-resource.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { SignedUrls } from '../../domain/signed-urls.ts';
import type { InferenceRequest, InstalledEndpoint } from '../backend.ts';
import type { Log } from '../log.ts';
import type { Exchange, HttpClient } from './http-exchange.ts';

export interface Dispatcher {
  installedEndpoints(): readonly InstalledEndpoint[];
  /** The build that answers the endpoint in its cluster; null where it runs here. */
  modelVersion(endpoint: string): string | null;
  /** How the endpoint is run elsewhere; null where it runs here. */
  remoteRun(endpoint: string): RemoteRun | null;
  /** Resolves when the cluster has taken the dispatch. @throws ServiceError, retryable, when it has not */
  send(request: InferenceRequest, dispatch: { id: string; attempt: number }, signal: AbortSignal): Promise<void>;
  /** Tells the cluster that nobody wants these dispatches any more. What it does not hear, it hears by its callbacks. */
  withdraw(endpoint: string, dispatchIds: readonly string[]): Promise<void>;
}

export interface DispatcherOptions {
  remoteEndpoints: readonly RemoteEndpoint[];
  /** All that the service has. */
  endpoints: readonly EndpointContract[];
  http: HttpClient;
  /** Where the clusters reach the API. */
  publicBaseUrl: string;
  signedUrls: SignedUrls;
  tokens: DispatchTokens;
  logger: Log;
  clock?: () => Date;
}

/** Well below any heartbeat timeout's end of an attempt. */
const ANSWER_TIMEOUT_MS = 10_000;
/** What a cluster answers is of no interest beyond its status. */
const ANSWER_BYTES = 64 * 1024;
/** After the last moment of an attempt, so that whoever comes late is told that it is over. */
const TOKEN_MARGIN_MS = 10 * 60_000;

/** @throws Error for an endpoint that is unknown, or runs in stages: its parts are dispatched one by one, or not at all */
export function createDispatcher({ clock = () => new Date(), ...options }: DispatcherOptions): Dispatcher {
  const { http, publicBaseUrl, signedUrls, tokens, logger } = options;
  const remotes = new Map(
    options.remoteEndpoints.map((remote) => [remote.endpoint, { ...remote, ...checkedContract(remote, options) }]),
  );

  return {
    installedEndpoints: () => [...remotes.values()].map(({ endpoint, modelVersion }) => ({ endpoint, modelVersion })),
    modelVersion: (endpoint) => remotes.get(endpoint)?.modelVersion ?? null,
    remoteRun: (endpoint) => {
      const remote = remotes.get(endpoint);
      return remote ? { isRemote: true, heartbeatTimeoutMs: remote.heartbeatTimeoutMs } : null;
    },

    async send(request, dispatch, signal) {
      const remote = remoteOf(request.endpoint);
      const body = JSON.stringify(messageOf(request, dispatch, remote));
      const answer = await exchange(remote, { method: 'POST', url: remote.url, body, signal }).catch(
        (cause: unknown) => {
          signal.throwIfAborted();
          throw unavailable(cause);
        },
      );
      if (answer.status < 200 || answer.status > 299) {
        throw unavailable(new Error(`${remote.url} answered the dispatch ${dispatch.id} with ${answer.status}`));
      }
    },

    async withdraw(endpoint, dispatchIds) {
      const remote = remotes.get(endpoint);
      if (!remote) return;
      await Promise.all(
        dispatchIds.map(async (dispatchId) => {
          try {
            const { status } = await exchange(remote, { method: 'DELETE', url: `${remote.url}/${dispatchId}` });
            logger.info({ endpoint, dispatchId, status }, 'a dispatch was withdrawn');
          } catch (err) {
            logger.warn({ endpoint, dispatchId, err }, 'a cluster was not told that its dispatch is withdrawn');
          }
        }),
      );
    },
  };

  function remoteOf(endpoint: string) {
    const remote = remotes.get(endpoint);
    if (!remote) throw new Error(`no cluster is configured for ${endpoint}`);
    return remote;
  }

  function exchange({ headers }: RemoteEndpoint, changes: Pick<Exchange, 'method' | 'url' | 'body' | 'signal'>) {
    return http.exchange({
      ...changes,
      headers: { ...headers, ...(changes.body !== undefined && { 'content-type': 'application/json' }) },
      timeoutMs: ANSWER_TIMEOUT_MS,
      maximumBytes: ANSWER_BYTES,
    });
  }

  /** The body of a dispatch: docs/remote-inference.md. */
  function messageOf(
    { jobId, endpoint, parameters, inputs }: InferenceRequest,
    { id, attempt }: { id: string; attempt: number },
    { modelVersion, heartbeatTimeoutMs, inferenceTimeoutMs }: RemoteEndpoint & { inferenceTimeoutMs: number },
  ) {
    const endsAt = new Date(clock().getTime() + inferenceTimeoutMs);
    const expiresAt = new Date(endsAt.getTime() + TOKEN_MARGIN_MS);
    const path = `/internal/v1/dispatches/${id}`;
    return {
      id,
      job_id: jobId,
      attempt,
      endpoint,
      model_version: modelVersion,
      parameters,
      inputs: inputs.map(({ field, mediaType, bytes, sha256 }, index) => ({
        field,
        media_type: mediaType,
        bytes,
        sha256,
        url: signedUrls.sign(`${path}/inputs/${index}`, expiresAt),
      })),
      callbacks: Object.fromEntries(
        ['started', 'progress', 'artefacts', 'completed', 'failed'].map((name) => [
          name,
          `${publicBaseUrl}${path}/${name}`,
        ]),
      ),
      token: tokens.issue(id, expiresAt),
      heartbeat_seconds: heartbeatTimeoutMs / 1_000,
      ends_at: epochSeconds(endsAt),
    };
  }
}

function checkedContract({ endpoint }: RemoteEndpoint, { endpoints }: Pick<DispatcherOptions, 'endpoints'>) {
  const contract = endpoints.find(({ slug }) => slug === endpoint);
  if (!contract) throw new Error(`REMOTE_ENDPOINTS: no endpoint has the slug ${endpoint}`);
  if (contract.stagePlan) throw new Error(`REMOTE_ENDPOINTS: ${endpoint} runs in stages, which are run here`);
  return { inferenceTimeoutMs: contract.inferenceTimeoutMs };
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('model_unavailable', 'The model cannot be reached at the moment. Send the request again.', {
    cause,
  });
}

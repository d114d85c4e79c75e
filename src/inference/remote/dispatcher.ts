/** Dispatches jobs to clusters that run whole pipelines. Their results return over `/internal/v1`. */

import type { RemoteRun } from '../../contracts/dispatch.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { InferenceRequest, InstalledEndpoint } from '../../contracts/inference-backend.ts';
import type { DispatchTokens } from '../../jobs/dispatch-tokens.ts';
import type { RemoteEndpoint } from '../../platform/config/remote-servers.ts';
import { epochSeconds } from '../../platform/epoch-seconds.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';
import type { Exchange, HttpClient } from '../runtime/kserve/http-exchange.ts';

export interface Dispatcher {
  installedEndpoints(): readonly InstalledEndpoint[];
  /** The build that serves the endpoint in its cluster; null for a local endpoint. */
  modelVersion(endpoint: string): string | null;
  /** How the endpoint runs in its cluster; null for a local endpoint. */
  remoteRun(endpoint: string): RemoteRun | null;
  /** Resolves when the cluster has accepted the dispatch. @throws retryable ServiceError when it has not */
  send(request: InferenceRequest, dispatch: { id: string; attempt: number }, signal: AbortSignal): Promise<void>;
  /** Tells the cluster that these dispatches are cancelled. A cluster that misses it learns it from its next callback. */
  withdraw(endpoint: string, dispatchIds: readonly string[]): Promise<void>;
}

export interface DispatcherOptions {
  remoteEndpoints: readonly RemoteEndpoint[];
  /** All endpoints of the service. */
  endpoints: readonly EndpointContract[];
  http: HttpClient;
  /** Address at which clusters reach the API. */
  publicBaseUrl: string;
  signedUrls: SignedUrls;
  tokens: DispatchTokens;
  logger: Log;
  clock?: () => Date;
}

/** Well below any heartbeat timeout. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Only the status of a cluster's response is used. */
const ANSWER_BYTES = 64 * 1024;
/** Tokens outlive their attempt, so that a late callback learns that the dispatch has ended. */
const TOKEN_MARGIN_MS = 10 * 60_000;

/** @throws Error for an unknown endpoint, or a bundle: only its one-step endpoints can be dispatched */
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
        throw unavailable(new Error(`${remote.url} responded to the dispatch ${dispatch.id} with ${answer.status}`));
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
  if (contract.stagePlan) throw new Error(`REMOTE_ENDPOINTS: ${endpoint} runs in stages and cannot be dispatched`);
  return { inferenceTimeoutMs: contract.inferenceTimeoutMs };
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('model_unavailable', 'The model cannot be reached at the moment. Send the request again.', {
    cause,
  });
}

/**
 * `/internal/v1`: callbacks of the clusters that run whole pipelines. Not part of the public OpenAPI document;
 * docs/remote-inference.md describes it.
 */
import type Router from '@koa/router';
import type { DispatchTokens } from '../../jobs/dispatch-tokens.ts';
import type { ApiState } from '../context.ts';
import { authenticateDispatch } from './authenticate-dispatch.ts';
import { type CallbackDependencies, createCallbackRoutes } from './callbacks.ts';
import { createDispatchArtefactRoute, createDispatchInputRoute, type FileDependencies } from './files.ts';

export interface InternalDependencies extends CallbackDependencies, FileDependencies {
  dispatchTokens: DispatchTokens;
}

export function addInternalRoutes(router: Router<ApiState>, dependencies: InternalDependencies): void {
  const withToken = authenticateDispatch(dependencies.dispatchTokens, dependencies.clock);
  const { started, progress, completed, failed } = createCallbackRoutes(dependencies);
  const path = '/internal/v1/dispatches/:id';
  router.get(`${path}/inputs/:index`, createDispatchInputRoute(dependencies));
  router.post(`${path}/artefacts`, withToken, createDispatchArtefactRoute(dependencies));
  router.post(`${path}/started`, withToken, started);
  router.post(`${path}/progress`, withToken, progress);
  router.post(`${path}/completed`, withToken, completed);
  router.post(`${path}/failed`, withToken, failed);
}

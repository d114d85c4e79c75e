/** Requests that price books answer: whether one can. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { EntityManager } from '../../platform/database/orm.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { planValuation, type ValuationRequest } from '../../price-books/plan-valuation.ts';
import { planRepair } from '../../price-books/repairs/plan-repair.ts';
import type { ApiContext } from '../context.ts';

const PLANNERS = {
  market: (em: EntityManager, parameters: object) => planValuation(em, parameters as ValuationRequest),
  repairs: (em: EntityManager, parameters: object) => planRepair(em, parameters),
} as const;

/** Why no price book can answer the request in live mode, or null. */
export async function refuseUnpriced(
  context: ApiContext,
  { slug, usesPriceBooks }: EndpointContract,
  parameters: Readonly<Record<string, unknown>>,
): Promise<ServiceError | null> {
  const { em, apiKey } = context.state;
  if (!apiKey.livemode || !usesPriceBooks) return null;
  const plan = await PLANNERS[usesPriceBooks](em, parameters);
  if (plan.kind === 'planned') return null;
  if (plan.kind === 'refused') return new ServiceError('parameter_invalid', plan.message, { param: plan.param });
  return withoutBook(slug);
}

/** The refusal while no book is active, or no worker values by it. */
export function withoutBook(slug: string): ServiceError {
  return new ServiceError(
    'endpoint_unavailable',
    `${slug} needs an active price book and a worker that values by it. GET /v1/endpoints lists what is available.`,
    { headers: { 'Retry-After': '60' } },
  );
}

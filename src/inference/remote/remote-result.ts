/** Checks a cluster's result before it is stored. */

import type { Artefact } from '../../artefacts/artefact-resource.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { replaceObjects } from '../../platform/replace-objects.ts';
import { createResultCheck } from '../toolkit/result-check.ts';

/** The result with its uploaded files in place, and its problems by field; `problem` is null for a valid result. */
export type ReadRemoteResult = (
  endpoint: string,
  result: unknown,
  artefacts: readonly Artefact[],
) => Promise<{ result: unknown; problem: string | null }>;

export function createRemoteResultReader(endpoints: readonly EndpointContract[]): ReadRemoteResult {
  const check = createResultCheck(endpoints);
  return async (endpoint, value, artefacts) => {
    const uploaded = new Map(artefacts.map((artefact) => [artefact.id, artefact]));
    const unknown: string[] = [];
    // Only uploaded artefacts: a URL made up by a cluster would reach the customer as ours.
    const result = await replaceObjects(value, (found) => {
      if (!isArtefact(found)) return null;
      const artefact = uploaded.get(String(found.id));
      if (!artefact) unknown.push(`the artefact ${JSON.stringify(found.id)} was not uploaded for this dispatch`);
      return artefact ?? found;
    });
    return { result, problem: unknown.length > 0 ? unknown.join('; ') : check(endpoint, result) };
  };
}

function isArtefact(value: object): value is { object: 'artefact'; id: unknown } {
  return 'object' in value && value.object === 'artefact' && 'id' in value;
}

/** What a cluster says it found, before anything of it is stored. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { Artefact } from '../../domain/artefact-resource.ts';
import { replaceObjects } from '../../endpoints/fixture-placeholders.ts';
import { createResultCheck } from '../result-check.ts';

/** The result with its files in place, or what is wrong with it, field by field. */
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
    // As they were uploaded: a link that a cluster made up would reach the customer as ours.
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

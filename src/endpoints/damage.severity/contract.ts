import type { EndpointContract, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/scenarios.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const damageSeverity = {
  slug: 'damage.severity',
  title: 'Damage grader',
  description:
    'Grades damages by how severe they are and hints at how each is repaired: the method, the material, whether ' +
    'paint is needed and whether safety is concerned. It grades the damages of the request, or of an earlier ' +
    '`damage.detect` job, or those it finds itself. A hint is no estimate: costs are the matter of ' +
    '`pricing.repair`.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  refine,
  jobReferences: [{ parameter: 'damage_job_id', endpoints: ['damage.detect'] }],
  result,
  scenarios: {
    empty_result: 'No damage to grade: an empty list, no overall grade.',
    low_confidence: 'Grades in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    cosmetic_only: 'Blemishes that are polished or touched up.',
    total_loss: 'Structural damage: the vehicle is neither drivable nor worth its repair.',
  },
} as const satisfies EndpointContract;

/** What the schema cannot say of the damages to grade. */
function refine(request: ValidRequest): { param: string; message: string } | null {
  const { damages = [], damage_job_id } = request.parameters as Parameters;
  if (damages.length > 0 && damage_job_id !== undefined) {
    return { param: 'damage_job_id', message: 'Send "damages" or "damage_job_id", not both.' };
  }
  const ids = new Set<string>();
  for (const [index, { id, bbox }] of damages.entries()) {
    if (bbox.width === 0 || bbox.height === 0) {
      return { param: `damages.${index}.bbox`, message: `"damages.${index}.bbox" must have a width and a height.` };
    }
    if (id === undefined) continue;
    if (ids.has(id)) return { param: `damages.${index}.id`, message: `"damages.${index}.id" must be unique.` };
    ids.add(id);
  }
  return null;
}

import type { EndpointContract, RegionOfPicture, ValidRequest } from '../../contracts/endpoint-contract.ts';
import { FAST } from '../../contracts/service-classes.ts';
import { JOB_SCENARIOS } from '../../contracts/vocabulary/jobs.ts';
import { files, type Parameters, parameters } from './request.ts';
import { result } from './result.ts';

export const damageSeverity = {
  slug: 'damage.severity',
  title: 'Damage grader',
  description:
    'Grades damages by severity and suggests how to repair each: method, material, whether it needs paint and whether ' +
    'it affects safety. It grades the damages of the request, those of an earlier `damage.detect` job, or those it ' +
    'finds itself. For costs use `pricing.repair`.',
  family: 'damage',
  preview: true,
  ...FAST,
  priceCredits: 30,
  files,
  parameters,
  refine,
  regions,
  jobReferences: [{ parameter: 'damage_job_id', endpoints: ['damage.detect'], samePicture: ['damage.detect'] }],
  result,
  scenarios: {
    empty_result: 'No damage to grade: an empty list and a null overall grade.',
    low_confidence: 'Grades in which every confidence is below 0.5.',
    ...JOB_SCENARIOS,
    cosmetic_only: 'Blemishes that need polishing or touching up only.',
    total_loss: 'Structural damage: the vehicle is not drivable and not worth repairing.',
  },
} as const satisfies EndpointContract;

/** Rules for the damages that the schema cannot express. */
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

function regions({ parameters: given }: ValidRequest): RegionOfPicture[] {
  const { damages = [] } = given as Parameters;
  return damages.flatMap(({ bbox: { x, y, width, height }, polygon }, index) => [
    {
      param: `damages.${index}.bbox`,
      points: [
        { x, y },
        { x: x + width, y: y + height },
      ],
    },
    ...(polygon ? [{ param: `damages.${index}.polygon`, points: polygon }] : []),
  ]);
}

import { Type } from 'typebox';
import { pictures } from '../../contracts/vocabulary/pictures.ts';
import { TASKS, type Task } from '../shared/bundled-tasks.ts';

export const files = pictures(1, 40);

export const DEFAULT_TASKS: readonly Task[] = ['vehicle.pose', 'vehicle.identify', 'plate.read', 'damage.detect'];

export const parameters = Type.Object(
  {
    tasks: Type.Optional(
      Type.Array(Type.Enum(TASKS), {
        minItems: 1,
        maxItems: TASKS.length,
        uniqueItems: true,
        default: [...DEFAULT_TASKS],
        description: 'The endpoints to run on each picture, each with its defaults and at its own price.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ tasks: ['vehicle.identify', 'plate.read', 'damage.detect'] }] },
);

export type Parameters = Type.Static<typeof parameters>;

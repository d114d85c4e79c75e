import { Type } from 'typebox';
import { hotspot, hotspotId, normalizedPosition } from '../../contracts/vocabulary/hotspots.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';

const frameIndex = Type.Integer({ minimum: 0, description: 'Index in the `frames` of the spin set.' });

const shownHotspot = closed({
  ...hotspot,
  best_frame_index: {
    ...frameIndex,
    description: 'The frame that shows the hotspot best, for example to jump to from a list.',
  },
});

const frame = closed({
  frame_index: frameIndex,
  hotspots: Type.Array(closed({ hotspot_id: hotspotId, ...normalizedPosition }), {
    minItems: 1,
    description: 'Most prominent first.',
  }),
});

export const result = closed({
  hotspots: Type.Array(shownHotspot, { description: 'Damages first, then parts; each most confident first.' }),
  frames: Type.Array(frame, { description: 'Every frame that shows a hotspot, in the order of the spin set.' }),
});

export type Result = Type.Static<typeof result>;

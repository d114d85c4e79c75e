import { askedDetections } from '../../domain/asked-detections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Makes a recognition follow the request's parameters. Live mode and the fixtures of test mode share it. */
export function applyParameters(result: Result, parameters: Parameters): Result {
  const { max_alternatives = 3, ...asked } = parameters;
  const hint = asked.view_hint === undefined ? {} : { view_hint: asked.view_hint };
  const [mainPart = null] = result.main_part ? askedDetections([result.main_part], asked) : [];
  return {
    ...result,
    main_part: mainPart,
    parts: askedDetections(result.parts, asked).map((part) => ({
      ...part,
      alternatives: askedDetections(part.alternatives, hint).slice(0, max_alternatives),
    })),
  };
}

/** Describes a reading beside the truth of its picture. */
import type { EndpointResult, Job } from '../client/index.ts';

type Result = EndpointResult<'dashboard.read'>;

/** A line of `truth.jsonl`: the parameters of the rendered picture. */
export interface Truth {
  file: string;
  dashboard: boolean;
  cluster_lit: boolean | null;
  odometer: { value: number; unit: 'km' | 'mi' | null; display_type: 'digital' | 'analogue' } | null;
  warning_lights: { code: string }[];
  fuel_level_percent: number | null;
}

export function describeResult({ result, model_version }: Job<'dashboard.read'>): string[] {
  if (!result) return ['no result'];
  const { odometer, warning_lights, fuel_level_percent, fuel_level_confidence, cluster_lit } = result;
  return [
    `model:    ${model_version}`,
    `cluster:  ${cluster_lit === null ? 'none seen' : cluster_lit ? 'lit' : 'not lit'}`,
    odometer
      ? `odometer: ${odometer.value} ${odometer.unit ?? '(no unit shown)'}, ${odometer.display_type}, ` +
        `confidence ${odometer.confidence.toFixed(2)}`
      : 'odometer: none read',
    `lamps:    ${(warning_lights ?? []).map(({ code, severity }) => `${code} (${severity})`).join(', ') || 'none lit'}`,
    fuel_level_percent === null
      ? 'fuel:     not read'
      : `fuel:     ${Math.round(fuel_level_percent)} %, confidence ${(fuel_level_confidence ?? 0).toFixed(2)}`,
  ];
}

/** Only the odometer must be right: reading it is the endpoint's purpose. The rest is reported, right or wrong. */
export function compareWithTruth(result: Result | null, truth: Truth): { lines: string[]; differences: string[] } {
  if (!result) return { lines: [], differences: ['the job succeeded without a result'] };
  const read = result.odometer?.value ?? null;
  const shown = truth.odometer?.value ?? null;
  const codes = (lights: { code: string }[]) =>
    lights
      .map(({ code }) => code)
      .sort()
      .join(', ') || 'none';
  const verdict = (equal: boolean, shownText: string) =>
    equal ? 'equals the truth' : `DIFFERS from the truth: ${shownText}`;
  const fuelGap = Math.abs((result.fuel_level_percent ?? Number.NaN) - (truth.fuel_level_percent ?? Number.NaN));
  const fuelEqual = result.fuel_level_percent === truth.fuel_level_percent || fuelGap <= 10;
  return {
    lines: [
      `→ odometer ${verdict(read === shown, shown === null ? 'nothing to read' : String(shown))}`,
      `→ lamps ${verdict(codes(result.warning_lights ?? []) === codes(truth.warning_lights), codes(truth.warning_lights))}`,
      `→ fuel ${fuelEqual ? 'within 10 points of' : 'DIFFERS from'} the truth (${truth.fuel_level_percent ?? 'none'})`,
    ],
    differences: read === shown ? [] : [`the odometer was read as ${read}, and the picture shows ${shown}`],
  };
}

/** Labels of models that find exterior parts: `hood`, `headlight.left`, or `headlight` for an unknown side. */
import { PAIRED_PARTS, type Part, SINGLE_PARTS } from '../../../contracts/vocabulary/parts.ts';

export interface NamedPart {
  part: Part;
  /** From the driver's seat; `none` for a part that exists once, null for an unknown side. */
  side: 'left' | 'right' | 'none' | null;
}

const named = new Map<string, NamedPart>([
  ...SINGLE_PARTS.map((part): [string, NamedPart] => [part, { part, side: 'none' }]),
  ...PAIRED_PARTS.flatMap((part): [string, NamedPart][] => [
    [part, { part, side: null }],
    [`${part}.left`, { part, side: 'left' }],
    [`${part}.right`, { part, side: 'right' }],
  ]),
]);

export const partLabels: readonly string[] = [...named.keys()];

/** @throws Error for a label outside `partLabels` */
export function partOfLabel(label: string): NamedPart {
  const part = named.get(label);
  if (!part) throw new Error(`${label} names no part`);
  return part;
}

/** The classes of models that find exterior parts: `hood`, `headlight.left`, or `headlight` where the side is open. */
import { PAIRED_PARTS, type Part, SINGLE_PARTS } from '../../contracts/vocabulary/parts.ts';

export interface NamedPart {
  part: Part;
  /** The driver's; `none` for a part that exists once, null where the class does not tell. */
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

/** @throws Error for what is not one of `partLabels` */
export function partOfLabel(label: string): NamedPart {
  const part = named.get(label);
  if (!part) throw new Error(`${label} names no part`);
  return part;
}

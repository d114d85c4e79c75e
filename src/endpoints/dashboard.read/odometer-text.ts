/** What the text of an odometer says. */
import { type TextLine, weakestCharacter } from '../../inference/decoding/ctc.ts';

export interface OdometerText {
  value: number;
  unit: 'km' | 'mi' | null;
}

/**
 * Null when the text is not an odometer reading. `pattern` comes from `model.json`: its first group is the digits with
 * their thousands separators, its third the unit.
 */
export function parseOdometerText(text: string, pattern: RegExp): OdometerText | null {
  const match = pattern.exec(text.trim());
  if (!match?.[1]) return null;
  return { value: Number(match[1].replaceAll(/\D/g, '')), unit: unitOf(match[3]) };
}

/** What lies at the edge of a crop may be cut: any word in k is kilometres, in m miles. */
function unitOf(word: string | undefined): OdometerText['unit'] {
  const initial = word?.charAt(0).toLowerCase();
  if (initial === 'k') return 'km';
  return initial === 'm' ? 'mi' : null;
}

/**
 * Puts several views of one display together: crops with different margins, because a box that cuts a digit is the
 * commonest cause of a wrong reading. A view whose text is an odometer's and whose weakest character reaches
 * `leastCharacter` votes with that character's probability. The greatest sum wins; of equals, the one seen first.
 *
 * @returns the winner, with its sum ÷ the number of views as confidence; null without a vote
 */
export function voteOnOdometer(
  views: readonly TextLine[],
  pattern: RegExp,
  leastCharacter: number,
): (OdometerText & { confidence: number }) | null {
  const votes = new Map<string, { reading: OdometerText; sum: number }>();
  for (const line of views) {
    const reading = parseOdometerText(line.text, pattern);
    const weight = weakestCharacter(line);
    if (!reading || weight < leastCharacter) continue;
    const key = `${reading.value} ${reading.unit}`;
    votes.set(key, { reading, sum: (votes.get(key)?.sum ?? 0) + weight });
  }
  const winner = [...votes.values()].reduce<{ reading: OdometerText; sum: number } | null>(
    (best, vote) => (best === null || vote.sum > best.sum ? vote : best),
    null,
  );
  return winner && { ...winner.reading, confidence: winner.sum / views.length };
}

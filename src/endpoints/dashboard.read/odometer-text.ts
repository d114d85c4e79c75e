/** Parses the text of an odometer. */
import { type TextLine, weakestCharacter } from '../../inference/toolkit/decoding/ctc.ts';

export interface OdometerText {
  value: number;
  unit: 'km' | 'mi' | null;
}

/**
 * Returns null if the text is not an odometer reading. `pattern` comes from `model.json`: group 1 holds the digits with
 * thousands separators, group 3 the unit.
 */
export function parseOdometerText(text: string, pattern: RegExp): OdometerText | null {
  const match = pattern.exec(text.trim());
  if (!match?.[1]) return null;
  return { value: Number(match[1].replaceAll(/\D/g, '')), unit: unitOf(match[3]) };
}

/** The edge of a crop may cut the word, so its initial decides: k for kilometres, m for miles. */
export function unitOf(word: string | undefined): OdometerText['unit'] {
  const initial = word?.charAt(0).toLowerCase();
  if (initial === 'k') return 'km';
  return initial === 'm' ? 'mi' : null;
}

/**
 * Combines crops of one display with different margins, because a box that cuts a digit is the most common cause of a wrong
 * reading. A crop votes if its text is an odometer reading and its weakest character reaches `leastCharacter`; that
 * character's probability is the weight. The greatest sum wins, the earlier reading on a tie.
 *
 * @returns the winner, with its sum ÷ the number of crops as confidence; null without a vote
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

/** The arithmetic of valuations: in each channel the value is the base plus its adjustments. */
import type { Result } from './result.ts';

type Adjustment = Result['adjustments'][number];
type Channels = NonNullable<Result['channels']>;
type Channel = keyof Channels;

/** Adds an adjustment, and moves the values and ranges of its channels. */
export function adjusted(result: Result, adjustment: Adjustment): Result {
  if (!result.channels) return result;
  return revalued({ ...result, adjustments: [...result.adjustments, adjustment] }, result.channels);
}

/** Replaces the adjustments of a kind in place; with null it removes them. */
export function replaced(result: Result, kind: Adjustment['kind'], adjustment: Adjustment | null): Result {
  if (!result.channels) return result;
  const kept = result.adjustments.filter((item) => item.kind !== kind);
  const place = result.adjustments.findIndex((item) => item.kind === kind);
  const adjustments = adjustment ? kept.toSpliced(place < 0 ? kept.length : place, 0, adjustment) : kept;
  return revalued({ ...result, adjustments }, result.channels);
}

/** Converts every amount at a rate. The sums still hold after rounding. */
export function converted(result: Result, rate: number): Result {
  const amount = (value: number) => Math.round(value * rate);
  const comparables = result.comparables?.map((item) => ({ ...item, price: amount(item.price) })) ?? null;
  const adjustments = result.adjustments.map((item) => ({ ...item, amount: amount(item.amount) }));
  const told = { ...result, adjustments, comparables };
  if (!result.channels) return told;
  const channel = ({ confidence, base, low, value, high }: Channels[Channel]) => ({
    base: amount(base),
    low: amount(low),
    value: amount(value),
    high: amount(high),
    confidence,
  });
  const { trade_in, private: fromPerson, retail } = result.channels;
  return revalued(told, { trade_in: channel(trade_in), private: channel(fromPerson), retail: channel(retail) });
}

function revalued(result: Result, channels: Channels): Result {
  const move = (name: Channel): Channels[Channel] => {
    const channel = channels[name];
    const sum = result.adjustments
      .filter((adjustment) => adjustment.channels.includes(name))
      .reduce((total, { amount }) => total + amount, channel.base);
    const step = sum - channel.value;
    return {
      ...channel,
      low: Math.max(0, channel.low + step),
      value: Math.max(0, sum),
      high: Math.max(0, channel.high + step),
    };
  };
  return {
    ...result,
    channels: { trade_in: move('trade_in'), private: move('private'), retail: move('retail') },
  };
}

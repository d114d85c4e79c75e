/** The report of a valuation: its values, how the adjustments lead to them, and comparable vehicles. */
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import { conversion, money, type Report, type Section, waterfall, words } from '../shared/price-report.ts';
import { writeReport } from '../shared/write-report.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Adds the report that the request asks for; without a value there is none. */
export async function withReport(result: Result, parameters: Parameters, write: WriteArtefact): Promise<Result> {
  if (parameters.include_report !== true) return result;
  return { ...result, report: result.channels ? await writeReport(reportOf(result), write) : null };
}

export function reportOf(result: Result): Report {
  const { vehicle, condition, price_book, country, valued_on, exchange_rate: rate } = result;
  const name = [vehicle?.make, vehicle?.model, vehicle?.variant, vehicle?.year].filter(Boolean).join(' ');
  const mileage = vehicle?.mileage_km;
  return {
    title: 'Vehicle valuation',
    lines: [
      [name, typeof mileage === 'number' && `${mileage.toLocaleString('en-GB')} km`, vehicle?.vin]
        .filter(Boolean)
        .join(', '),
      `Valued on ${valued_on} by the price book ${price_book} (${country}).${condition ? ` Condition ${condition.grade}.` : ''}`,
      ...(rate ? [conversion(rate)] : []),
      ...(isDerived(result) ? ['Margins between the channels are conventions, not measured.'] : []),
      'A market estimate, not an offer.',
    ],
    sections: [values(result), ...waterfalls(result), ...comparables(result)],
  };
}

type Channels = NonNullable<Result['channels']>;
type Channel = Channels['retail'];

const CHANNELS = ['trade_in', 'private', 'retail'] as const;

const isDerived = ({ channels }: Result) =>
  channels !== null && CHANNELS.some((name) => channels[name].derived_from === 'margin');

function values({ channels, currency }: Result): Section {
  const rows = CHANNELS.flatMap((name) => {
    const channel = channels?.[name];
    if (!channel) return [];
    const amounts = [channel.low, channel.value, channel.high].map((amount) => money(amount, currency));
    return [[words(name), sourceOf(channel, channels), ...amounts]];
  });
  const table = {
    head: ['Channel', 'Valued by', 'Low', 'Value', 'High'],
    rows,
    widths: [0.14, 0.32, 0.18, 0.18, 0.18],
  };
  return { kind: 'table', title: 'Values', table: { ...table, amounts: [2, 3, 4], hasTotal: false } };
}

/** Test mode does not say. */
function sourceOf(
  { derived_from: source, margin_percent: margin }: Channel,
  { private: fromPerson }: Channels,
): string {
  if (source === 'observations') return 'its own offers';
  if (typeof margin !== 'number') return '';
  // Whichever channel has offers of its own; private ones come first.
  const offers = fromPerson.derived_from === 'observations' ? 'private' : 'retail';
  return `${Math.abs(margin)} % ${margin < 0 ? 'below' : 'above'} ${offers} offers`;
}

/** In each channel the value is the base plus its adjustments, at least 0. */
function waterfalls({ channels, adjustments, currency }: Result): Section[] {
  return CHANNELS.flatMap((name): Section[] => {
    const channel = channels?.[name];
    if (!channel) return [];
    const steps = adjustments
      .filter(({ channels: of }) => of.includes(name))
      .map(({ reason, amount }) => ({ label: reason, amount }));
    const sum = steps.reduce((total, { amount }) => total + amount, channel.base);
    const cut = { label: 'No value is below 0', amount: channel.value - sum };
    const base = { label: 'Average comparable vehicle', amount: channel.base };
    const title = `From the average to the value: ${words(name)}`;
    return [{ kind: 'waterfall', title, bars: waterfall(base, [...steps, cut], 'Value', currency) }];
  });
}

function comparables({ comparables: found, currency }: Result): Section[] {
  if (!found || found.length === 0) return [];
  const rows = found.map(({ channel, kind, year, mileage_km, observed_on, price, similarity }) => [
    `${words(channel)}, ${kind}`,
    String(year),
    mileage_km === null ? '' : `${mileage_km.toLocaleString('en-GB')} km`,
    observed_on,
    `${Math.round(similarity * 100)} %`,
    money(price, currency),
  ]);
  const head = ['Offer', 'Year', 'Mileage', 'Observed', 'Similarity', 'Price'];
  const table = { head, rows, widths: [0.2, 0.1, 0.18, 0.16, 0.14, 0.22], amounts: [2, 4, 5], hasTotal: false };
  return [{ kind: 'table', title: 'Comparable vehicles', table }];
}

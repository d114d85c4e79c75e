/**
 * An invented market: makes and models that do not exist, at prices that follow a rule with noise. For demonstrations and
 * tests; it says nothing about real vehicles. Pure: the same rows each time.
 */
import { createRandom } from './random.ts';
import type { Market } from './row-fields.ts';

const MODELS = [
  { make: 'Talvera', model: 'Lumo', newPrice: 24_000, litres: '1.2', powerKw: 74 },
  { make: 'Talvera', model: 'Arco', newPrice: 31_000, litres: '1.6', powerKw: 103 },
  { make: 'Norvik', model: 'Fjell', newPrice: 46_000, litres: '2.0', powerKw: 140 },
  { make: 'Norvik', model: 'Bris', newPrice: 18_500, litres: '1.0', powerKw: 59 },
  { make: 'Casamo', model: 'Vento', newPrice: 27_500, litres: '1.5', powerKw: 96 },
] as const;

const VALUE_KEPT_PER_YEAR = 0.87;
const VALUE_KEPT_PER_100_000_KM = 0.75;
const AUTOMATIC_FACTOR = 1.06;
const DAMAGE_FACTOR = 0.6;
const DEALER_FACTOR = 1.12;
/** Standard deviation of the log price around the rule. */
const NOISE = 0.08;

const SEED = 20_261_123;

interface Options extends Market {
  count: number;
}

/** Rows of a price book's file, in the order of its columns. Observed from January to June 2026. */
export function invented({ count, country, currency }: Options): string[] {
  const random = createRandom(SEED);
  return Array.from({ length: count }, () => {
    const { make, model, newPrice, litres, powerKw } = pick(MODELS, random);
    const year = 2010 + Math.floor(random() * 16);
    const ageYears = 2026 - year;
    const km = Math.round((0.4 + 1.2 * random()) * 13_000 * (ageYears + 0.5));
    const [isAutomatic, isDealer, isDamaged] = [random() < 0.4, random() < 0.6, random() < 0.06];
    const noise = NOISE * (random() + random() + random() + random() - 2) * Math.sqrt(3);
    const price =
      newPrice *
      VALUE_KEPT_PER_YEAR ** ageYears *
      VALUE_KEPT_PER_100_000_KM ** (km / 100_000) *
      (isAutomatic ? AUTOMATIC_FACTOR : 1) *
      (isDealer ? DEALER_FACTOR : 1) *
      (isDamaged ? DAMAGE_FACTOR : 1) *
      Math.exp(noise);
    return [
      `2026-0${1 + Math.floor(random() * 6)}-15`,
      country,
      currency,
      make,
      model,
      year,
      1 + Math.floor(random() * 12),
      km,
      Math.round(price * 100),
      random() < 0.5 ? 'petrol' : 'diesel',
      isAutomatic ? 'automatic' : 'manual',
      powerKw,
      litres,
      isDealer ? 'dealer' : 'private',
      isDamaged ? 'yes' : 'no',
    ].join(',');
  });
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

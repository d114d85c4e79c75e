/** Observations in columns, as the model is fitted to them. */

/** Attributes of a vehicle as its offer states them; null where the offer does not. */
export interface StatedAttributes {
  mileageKm: number | null;
  fuel: string | null;
  transmission: string | null;
  powerKw: number | null;
  engineLitres: number | null;
  seller: Seller | null;
  unrepairedDamage: boolean | null;
}

/** What the model knows of a vehicle. */
export interface PricedAttributes extends StatedAttributes {
  /** Keys of names, see `nameKey`. */
  make: string;
  model: string;
  /** From the first registration to the day of the valuation. */
  ageYears: number;
}

export type Seller = 'private' | 'dealer';

/** A vehicle, its price, and the group that its hash puts it in. */
export interface MarketRow extends PricedAttributes {
  priceMinor: number;
  /** From 0 to 9: a digit of the hash of the observation. */
  tenth: number;
  /** From 0 to 4, from other bits of the hash. */
  fold: number;
}

/** Observations of this tenth are never fitted to: the figures of the model are measured on them. */
export const EVALUATION_TENTH = 0;
/** The ranges are calibrated on this tenth, by a model that was not fitted to it. */
export const CALIBRATION_TENTH = 1;

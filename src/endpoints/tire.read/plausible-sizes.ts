/**
 * Which sizes tires are made in, and which load indexes they bear: rules instead of a list. The bounds hold for the common
 * sizes of ETRTO and TRA with a margin; they say what cannot be, not what exists.
 */
import { maximumLoadKg } from './load-and-speed.ts';
import { isWithin, type SizeText } from './size-text.ts';

const MILLIMETRES_PER_INCH = 25.4;

interface Bounds {
  least: number;
  most: number;
}

/** Bounds of a kind of tire. Lengths in millimetres. */
interface Kind {
  diameter: Bounds;
  sectionHeight: Bounds;
  /** Width ÷ rim diameter. */
  widthPerRim: Bounds;
  /** Maximum load ÷ that of a passenger tire of the same volume. */
  load: Bounds;
}

const CAR: Kind = {
  diameter: { least: 490, most: 920 },
  sectionHeight: { least: 55, most: 240 },
  widthPerRim: { least: 0.28, most: 0.78 },
  load: { least: 0.82, most: 1.25 },
};
const LIGHT_TRUCK: Kind = { ...CAR, load: { least: 0.72, most: 1.4 } };
const COMMERCIAL: Kind = { ...CAR, load: { least: 1.05, most: 1.75 } };
const SPARE: Kind = { ...CAR, load: { least: 1.3, most: 2.6 } };
/** On rims with half inches. */
const TRUCK: Kind = {
  diameter: { least: 700, most: 1150 },
  sectionHeight: { least: 110, most: 300 },
  widthPerRim: { least: 0.4, most: 0.95 },
  load: { least: 1.35, most: 2.7 },
};
const MOTORCYCLE: Kind = {
  diameter: { least: 380, most: 720 },
  sectionHeight: { least: 50, most: 120 },
  widthPerRim: { least: 0.14, most: 0.55 },
  load: { least: 0.55, most: 1 },
};

/** Of motorcycles the nominal widths are tens, of other radial tires they end in 5. */
function kindOf({ service, widthMm, rimInches }: SizeText): Kind {
  if (rimInches % 1 !== 0) return TRUCK;
  if (service === 'temporary_spare') return SPARE;
  if (service === 'light_truck') return LIGHT_TRUCK;
  if (service === 'commercial') return COMMERCIAL;
  return widthMm % 10 === 0 ? MOTORCYCLE : CAR;
}

/** False for a size that no such tire can have. Without an aspect ratio nothing is known, as for flotation sizes. */
export function isPlausibleSize(size: SizeText): boolean {
  if (size.aspectRatio === null) return true;
  const { diameter, sectionHeight, widthPerRim } = kindOf(size);
  const { height, rim } = lengthsOf(size, size.aspectRatio);
  return (
    isWithin(rim + 2 * height, diameter) && isWithin(height, sectionHeight) && isWithin(size.widthMm / rim, widthPerRim)
  );
}

/**
 * Maximum load of passenger tires in kilograms: this × (volume in litres) to this power. Fitted to 165 common sizes, standard
 * and extra load; all are within 0.89 and 1.12 of it.
 */
const LOAD = { factor: 31.77, exponent: 0.8145 };

/** False for a load index that no tire of this size can bear. */
export function isPlausibleLoad(size: SizeText, loadIndex: number): boolean {
  const load = maximumLoadKg(loadIndex);
  if (load === null || size.aspectRatio === null) return load !== null;
  const { height, rim } = lengthsOf(size, size.aspectRatio);
  const litres = (Math.PI * height * size.widthMm * (rim + height)) / 1e6;
  return isWithin(load / (LOAD.factor * litres ** LOAD.exponent), kindOf(size).load);
}

function lengthsOf({ widthMm, rimInches }: SizeText, aspectRatio: number): { height: number; rim: number } {
  return { height: (widthMm * aspectRatio) / 100, rim: rimInches * MILLIMETRES_PER_INCH };
}

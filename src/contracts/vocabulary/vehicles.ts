/** What a vehicle is, as results state it and as requests describe it. */
import { Type } from 'typebox';
import { closed } from './schemas.ts';

export const VEHICLE_CLASSES = ['car', 'van', 'truck', 'bus', 'motorcycle', 'trailer', 'other'] as const;

export const BODY_TYPES = [
  'sedan',
  'hatchback',
  'station_wagon',
  'suv',
  'crossover',
  'coupe',
  'convertible',
  'roadster',
  'minivan',
  'pickup',
  'panel_van',
  'passenger_van',
  'camper',
  'truck',
  'bus',
  'motorcycle',
  'other',
] as const;

export const COLORS = [
  'black',
  'white',
  'gray',
  'silver',
  'red',
  'burgundy',
  'orange',
  'yellow',
  'gold',
  'beige',
  'brown',
  'green',
  'turquoise',
  'blue',
  'purple',
  'pink',
  'multicolor',
] as const;

export const PAINT_FINISHES = ['solid', 'metallic', 'matte', 'wrap'] as const;

/** `hybrid` covers mild, full and plug-in hybrids: a picture rarely distinguishes them. */
export const PROPULSIONS = ['combustion', 'hybrid', 'electric'] as const;

/** Where a VIN is located. */
export const VIN_LOCATIONS = [
  'windscreen',
  'door_jamb',
  'chassis_stamping',
  'engine_bay',
  'registration_document',
] as const;

export const FUEL_TYPES = [
  'petrol',
  'diesel',
  'hybrid',
  'plug_in_hybrid',
  'electric',
  'lpg',
  'cng',
  'ethanol',
  'hydrogen',
  'other',
] as const;

export const TRANSMISSIONS = ['manual', 'automatic'] as const;

export const DRIVETRAINS = ['front', 'rear', 'all'] as const;

export const SERVICE_HISTORIES = ['full', 'partial', 'none'] as const;

export const ACCIDENT_HISTORIES = ['none', 'repaired', 'unrepaired'] as const;

const name = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

export const vin = Type.String({
  pattern: '^[A-HJ-NPR-Z0-9]{17}$',
  description: 'Upper case; never contains I, O or Q.',
});

export const modelYear = Type.Integer({ minimum: 1885, maximum: 2100 });

export const MOST_MILEAGE_KM = 5_000_000;
export const mileageKm = Type.Integer({ minimum: 0, maximum: MOST_MILEAGE_KM, description: 'In kilometres.' });

const identity = {
  vin: Type.Optional({ ...vin, description: 'Supersedes make, model, variant and year if it resolves.' }),
  make: Type.Optional(name('Such as `Volkswagen`.')),
  model: Type.Optional(name('Such as `Golf`.')),
  variant: Type.Optional(name('Version, engine or trim, such as `2.0 TDI Style`.')),
  year: Type.Optional({ ...modelYear, description: 'Model year, or else the year of first registration.' }),
};

/** A vehicle by its identity and the attributes that move its value. */
export const describedVehicle = closed({
  ...identity,
  mileage_km: Type.Optional(mileageKm),
  first_registration: Type.Optional(Type.String({ format: 'date', description: 'ISO 8601 date.' })),
  body_type: Type.Optional(Type.Enum(BODY_TYPES)),
  fuel_type: Type.Optional(Type.Enum(FUEL_TYPES)),
  transmission: Type.Optional(Type.Enum(TRANSMISSIONS)),
  drivetrain: Type.Optional(Type.Enum(DRIVETRAINS, { description: 'The driven axle.' })),
  power_kw: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3000 })),
  engine_displacement_cm3: Type.Optional(Type.Integer({ minimum: 1, maximum: 30_000 })),
  doors: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 99 })),
  color: Type.Optional(Type.Enum(COLORS)),
  previous_owners: Type.Optional(Type.Integer({ minimum: 0, maximum: 99 })),
  service_history: Type.Optional(Type.Enum(SERVICE_HISTORIES)),
  accident_history: Type.Optional(
    Type.Enum(ACCIDENT_HISTORIES, {
      description: 'For `unrepaired`, send the outstanding cost as `repair_estimate_total`.',
    }),
  ),
  equipment: Type.Optional(
    Type.Array(name('As the manufacturer or the price book names it.'), {
      maxItems: 200,
      description: 'Options beyond the standard equipment of the variant.',
    }),
  ),
});

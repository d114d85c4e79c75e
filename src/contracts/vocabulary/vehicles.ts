/** What a vehicle is. */

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

/** `hybrid` covers mild, full and plug-in hybrids: a picture seldom tells them apart. */
export const PROPULSIONS = ['combustion', 'hybrid', 'electric'] as const;

/** Where a VIN is found. */
export const VIN_LOCATIONS = [
  'windscreen',
  'door_jamb',
  'chassis_stamping',
  'engine_bay',
  'registration_document',
] as const;

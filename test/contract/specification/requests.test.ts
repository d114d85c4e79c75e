/** The specification's tables of what inference endpoints take. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { endpointBySlug, endpoints } from '../../../src/endpoints/list.ts';
import { endpointPath } from '../../../src/endpoints/shared/endpoint-path.ts';
import { documentOf } from '../service.ts';
import { type BodyField, type Schema, schemasOf } from './fields.ts';

const MARKED_PREVIEW = ['driver_license.read', 'pricing.vehicle'];

const MEGABYTE = 1024 * 1024;
const PICTURES = ['image/jpeg', 'image/png', 'image/webp'];

interface FilesRow {
  endpoint: string;
  field: string;
  minimum: number;
  maximum: number;
  mediaTypes: readonly string[];
  bytes: number;
}

const FILES: readonly FilesRow[] = [
  { endpoint: 'dashboard.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  {
    endpoint: 'driver_license.read',
    field: 'images',
    minimum: 1,
    maximum: 2,
    mediaTypes: [...PICTURES, 'image/avif'],
    bytes: 20 * MEGABYTE,
  },
  { endpoint: 'pricing.vehicle', field: 'images', minimum: 0, maximum: 30, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'tire.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'render.enhance', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'vin.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
];

interface ParameterRow extends BodyField {
  endpoint: string;
  required?: true;
  /** What the field is when it is left out. */
  default?: unknown;
}

const COUNTRIES =
  'AT BE BG CA CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK US'.split(' ');
const OPERATIONS = [
  'denoise',
  'sharpen',
  'deblur',
  'upscale',
  'exposure_correction',
  'white_balance',
  'reflection_removal',
  'perspective_correction',
];

/** Where the specification does not show a name, the service's own stands. */
const PARAMETERS: readonly ParameterRow[] = [
  { endpoint: 'dashboard.read', field: 'read_warning_lights', accepts: [true, false], refuses: ['yes', 2, null] },
  { endpoint: 'dashboard.read', field: 'unit_hint', accepts: ['km', 'mi'], refuses: ['miles', 'KM', null] },

  { endpoint: 'driver_license.read', field: 'country_hint', accepts: COUNTRIES, refuses: ['GB', 'CH', 'at', 'XX'] },
  {
    endpoint: 'driver_license.read',
    field: 'region_hint',
    accepts: ['US-CA', 'CA-ON', 'FR-75', 'AT-9', 'ES-CAT'],
    refuses: ['US', 'us-ca', 'US-', 'US-CALI', 'US_CA'],
  },

  {
    endpoint: 'pricing.vehicle',
    field: 'vehicle',
    required: true,
    accepts: [
      { make: 'Talvera', model: 'Lumo', year: 2021, mileage_km: 42_000 },
      { vin: '7ZZBX2C45N1048215' },
      { vin: '7ZZBX2C45N1048215', make: 'Talvera', model: 'Lumo', year: 2021, mileage_km: 42_000 },
    ],
    refuses: ['Talvera Lumo', [], { make: 1 }],
  },
  { endpoint: 'pricing.vehicle', field: 'condition_grade', accepts: ['A', 'B', 'C', 'D', 'E'], refuses: ['F', 'a', 1] },
  { endpoint: 'pricing.vehicle', field: 'repair_estimate_total', accepts: [0, 125_000], refuses: [-1, 0.5, '12'] },
  { endpoint: 'pricing.vehicle', field: 'price_book', accepts: ['eu-de'], refuses: [1, {}] },
  { endpoint: 'pricing.vehicle', field: 'currency', accepts: ['EUR', 'USD'], refuses: ['eur', 'EURO', '€'] },
  { endpoint: 'pricing.vehicle', field: 'country', accepts: ['DE', 'GB'], refuses: ['de', 'DEU'] },
  { endpoint: 'pricing.vehicle', field: 'margin_pct', accepts: [0, 12.5], refuses: ['12', {}] },
  { endpoint: 'pricing.vehicle', field: 'include_comparables', accepts: [true, false], refuses: ['no'], default: true },

  {
    endpoint: 'tire.read',
    field: 'position',
    accepts: ['front_left', 'front_right', 'rear_left', 'rear_right', 'spare', 'unknown'],
    refuses: ['left', 'middle', ''],
  },

  {
    endpoint: 'render.enhance',
    field: 'enhancer_model',
    accepts: ['GAN', 'fine_grain'],
    refuses: ['gan', 'diffusion'],
  },
  {
    endpoint: 'render.enhance',
    field: 'operations',
    accepts: [OPERATIONS, ...OPERATIONS.map((operation) => [operation])],
    refuses: [['colorize'], 'denoise'],
  },
  { endpoint: 'render.enhance', field: 'upscale_factor', accepts: [1, 2, 4], refuses: [0, 3, 8, '2'] },
  { endpoint: 'render.enhance', field: 'strength', accepts: [0, 0.5, 1], refuses: [-0.01, 1.01, '0.5'] },
  { endpoint: 'render.enhance', field: 'fidelity', accepts: [0, 0.5, 1], refuses: [-0.01, 1.01, '0.5'] },
  { endpoint: 'render.enhance', field: 'output_format', accepts: ['jpg', 'png', 'webp'], refuses: ['jpeg', 'gif'] },

  { endpoint: 'vin.read', field: 'validate_check_digit', accepts: [true, false], refuses: ['yes'] },
  {
    endpoint: 'vin.read',
    field: 'location_hint',
    accepts: ['windscreen', 'door_jamb', 'chassis_stamping', 'engine_bay', 'registration_document'],
    refuses: ['roof', ''],
  },
];

const document = documentOf(endpoints);
const schemas = schemasOf(document);

function bodyOf(slug: string, mediaType: string) {
  const content = document.paths[endpointPath(slug)]?.post?.requestBody?.content[mediaType];
  if (!content) throw new Error(`${slug} takes no ${mediaType}`);
  return content as unknown as {
    schema: Schema & { properties: Record<string, Schema>; required: string[] };
    example: Schema;
    encoding: Record<string, { contentType: string }>;
  };
}

describe('Request', () => {
  it.each(FILES)(
    '$endpoint accepts $minimum to $maximum of $field',
    ({ endpoint, field, minimum, maximum, ...row }) => {
      const { files } = endpointBySlug(endpoint);
      expect(files).toMatchObject({ field, minimum, maximum, maximumBytes: row.bytes });
      expect(files.directMediaTypes).toEqual(row.mediaTypes);
      const { schema, encoding } = bodyOf(endpoint, 'multipart/form-data');
      expect(encoding[field]?.contentType.split(', ')).toEqual(row.mediaTypes);
      expect(schema.properties).toHaveProperty(field);
      expect(schema.required.includes(field)).toBe(minimum > 0);
    },
  );

  it.each(PARAMETERS)(
    '$endpoint takes $field as specified, in both encodings',
    ({ endpoint, field, required, accepts, refuses, ...row }) => {
      const { schema, example } = bodyOf(endpoint, 'application/json');
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      const validate = ajv.compile(schema);
      const wrong = (values: readonly unknown[], isValid: boolean) =>
        values.filter((value) => validate({ ...example, [field]: value }) !== isValid);
      expect({ refused: wrong(accepts, true), accepted: wrong(refuses, false) }).toEqual({ refused: [], accepted: [] });
      const { [field]: _, ...without } = example;
      expect(validate(without)).toBe(required !== true);
      if ('default' in row) expect(schemas.at(schema, field)[0]?.default).toBe(row.default);
      const propertyOf = (type: 'application/json' | 'multipart/form-data') =>
        (bodyOf(endpoint, type).schema.properties[field] ?? {}) as { description?: string };
      const { description: ofPart = '', ...part } = propertyOf('multipart/form-data');
      const { description = '', ...property } = propertyOf('application/json');
      expect(part).toEqual(property);
      // A part also says how a list or an object is written.
      expect(ofPart.slice(0, description.length)).toBe(description);
    },
  );

  it.each(MARKED_PREVIEW)('the endpoint %s is marked Preview', (slug) => {
    expect(endpointBySlug(slug).preview).toBe(true);
  });
});

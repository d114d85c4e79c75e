/** The specification's tables of results and of the bounding box, on their  */
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/endpoints/list.ts';
import { documentOf } from '../service.ts';
import { type Field, type Schema, schemasOf } from './fields.ts';

const DASHBOARD_RESULT: readonly Field[] = [
  { field: 'cluster_lit', types: ['boolean', 'null'] },
  { field: 'odometer', types: ['object', 'null'] },
  { field: 'odometer.value', types: ['number'] },
  { field: 'odometer.unit', types: ['string', 'null'], values: ['km', 'mi'] },
  { field: 'odometer.display_type', types: ['string'], values: ['digital', 'analogue'] },
  { field: 'odometer.confidence', types: ['number'] },
  { field: 'odometer.bbox', types: ['object'] },
  // The specification does not cover lamps that were not requested.
  { field: 'warning_lights', types: ['array', 'null'] },
  { field: 'warning_lights.code', types: ['string'] },
  { field: 'warning_lights.label', types: ['string'] },
  { field: 'warning_lights.severity', types: ['string'], values: ['advisory', 'stop', 'info'] },
  { field: 'warning_lights.confidence', types: ['number'] },
  { field: 'warning_lights.bbox', types: ['object'] },
  { field: 'fuel_level_percent', types: ['number', 'null'] },
];

const BOUNDING_BOX: readonly Field[] = ['x', 'y', 'width', 'height'].map((field) => ({ field, types: ['number'] }));

/** What the results say whose fields the specification leaves open: a place in the result for each of its words. */
const RESULT_CONTENTS = [
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.trade_in.value' },
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.private.value' },
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.retail.value' },
  { endpoint: 'pricing.vehicle', says: 'the adjustments that produced it', field: 'adjustments.amount' },
  { endpoint: 'pricing.vehicle', says: 'the market observations behind it', field: 'comparables.price' },
  { endpoint: 'pricing.vehicle', says: 'the currency of its amounts', field: 'currency' },
  { endpoint: 'tire.read', says: 'what the tire is', field: 'size.text' },
  { endpoint: 'tire.read', says: 'the position, carried through', field: 'position' },
  { endpoint: 'render.enhance', says: 'the improved image', field: 'image.url' },
  { endpoint: 'render.enhance', says: 'which operations were applied', field: 'operations_applied.operation' },
  { endpoint: 'vin.read', says: 'the seventeen characters', field: 'vin.text' },
  { endpoint: 'vin.read', says: 'a confidence per character', field: 'vin.characters.confidence' },
  { endpoint: 'vin.read', says: 'where they were read from', field: 'vin.location' },
  { endpoint: 'vin.read', says: 'whether the check digit agrees', field: 'vin.check_digit.valid' },
] as const;

const { at, expectField, named, typesOf } = schemasOf(documentOf(endpoints));

describe('Result of dashboard.read', () => {
  it.each(DASHBOARD_RESULT)('the field $field of the result of dashboard.read is as specified', (row) => {
    expectField(named('dashboard.read.result'), row);
  });
});

describe('Bounding box', () => {
  it.each(BOUNDING_BOX)('the field $field is a number in every bounding box of a result', (row) => {
    const boxes = endpoints.flatMap(({ slug }) => boxesIn(named(`${slug}.result`)));
    expect(boxes.length).toBeGreaterThan(2);
    for (const box of boxes) expectField(box, row);
  });
});

function boxesIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    (name === 'bbox' || name.endsWith('_bbox')) && typeof field === 'object' && field !== null && !Array.isArray(field)
      ? [field as Schema]
      : boxesIn(field),
  );
}

describe('Result', () => {
  it.each(RESULT_CONTENTS)('the result of $endpoint states $says: $field', ({ endpoint, field }) => {
    expect(at(named(`${endpoint}.result`), field)).not.toHaveLength(0);
  });

  it.each(['channels.retail.value', 'adjustments.amount', 'comparables.price'])(
    'the result of pricing.vehicle states every amount as an integer: %s',
    (field) => {
      expect(typesOf(at(named('pricing.vehicle.result'), field))).toEqual(['integer']);
    },
  );
});

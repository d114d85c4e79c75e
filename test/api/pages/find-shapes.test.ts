/** The places that the console finds in the results of every endpoint. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findPlaces } from '../../../src/api/pages/find-shapes.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';

const fixtures = globSync('src/endpoints/*/fixtures/default.json', { cwd: PROJECT_DIRECTORY }).toSorted();

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

describe.each(fixtures)('%s', (path) => {
  const text = readFileSync(PROJECT_DIRECTORY + path, 'utf8');
  const { shapes } = findPlaces(JSON.parse(text));

  it(`${path} has shapes if its result has places, and each shape has a label and valid points`, () => {
    const places = count(text, /"(?:vehicle_)?bbox": \{|"quad": \[|"polygon": \[|"polygons": \[|"x_normalized"/g);
    expect(shapes.length > 0).toBe(places > 0);
    for (const { points, label } of shapes) {
      expect(label).not.toBe('');
      for (const { x, y } of points) expect(Number.isFinite(x) && Number.isFinite(y) && x >= 0 && y >= 0).toBe(true);
    }
  });
});

it('a shape prefers an outline to its box, keeps the picture of a place, and has its name', () => {
  const { shapes } = findPlaces({
    pages: [
      {
        image_index: 1,
        parts: [
          {
            part: 'front_wheel',
            side: 'left',
            confidence: 0.9,
            bbox: { x: 1, y: 2, width: 3, height: 4 },
            polygons: [
              [
                { x: 1, y: 2 },
                { x: 4, y: 2 },
                { x: 4, y: 6 },
              ],
            ],
          },
          { text: 'B-XY 1', bbox: { x: 1, y: 2, width: 3, height: 4 } },
        ],
      },
    ],
  });
  expect(shapes).toMatchObject([
    { kind: 'polygon', imageIndex: 1, label: 'front wheel, left', confidence: 0.9 },
    {
      kind: 'box',
      imageIndex: 1,
      label: 'B-XY 1',
      confidence: null,
      points: [
        { x: 1, y: 2 },
        { x: 4, y: 2 },
        { x: 4, y: 6 },
        { x: 1, y: 6 },
      ],
    },
  ]);
});

const file = (name: string) => ({
  object: 'artefact',
  media_type: 'image/png',
  url: `https://api.example/v1/artefacts/${name}.png`,
  expires_at: 1,
});
const bbox = { x: 1, y: 2, width: 3, height: 4 };

it('files are found with their place in the result, and named for people', () => {
  const result = {
    vehicles: [],
    mask: file('mask'),
    parts: [{ part: 'front_door', side: 'left', cut_out: file('door') }],
    exploded_view: { image: file('view') },
    frames: [{ image: file('first') }, { view: 'rear_left', image: file('second') }],
  };
  expect(findPlaces(result).files).toMatchObject([
    { name: 'mask', path: 'mask', label: 'mask', url: file('mask').url },
    { name: 'cut_out', path: 'parts.0.cut_out', label: 'front door, left: cut out' },
    { name: 'image', path: 'exploded_view.image', label: 'exploded view: image' },
    { name: 'image', path: 'frames.0.image', label: 'frame 1: image' },
    { name: 'image', path: 'frames.1.image', label: 'frame, rear left: image' },
  ]);
});

it('places in a frame of the result are told apart from places in a picture of the request', () => {
  const outcomes = {
    'damage.detect': { result: { damages: [{ type: 'dent', part: 'hood', bbox }], mask: file('mask') } },
  };
  const { shapes, files } = findPlaces({
    image: file('whole'),
    plates: [{ text: 'VIS2047', bbox }],
    key_frames: [{ view: 'front', image: file('front'), vehicle_bbox: bbox, outcomes }],
  });
  expect(shapes.map(({ label, on }) => [label, on])).toEqual([
    ['VIS2047', null],
    ['key frame, front', 'key_frames.0.image'],
    ['dent, hood', 'key_frames.0.image'],
  ]);
  expect(files.map(({ name, on }) => [name, on])).toEqual([
    ['image', null],
    ['image', 'key_frames.0.image'],
    ['mask', 'key_frames.0.image'],
  ]);
});

it('the places of a thing have its name, and the place of a character has its text', () => {
  const hotspot = { id: 'hotspot_1', label: 'Scratch on the door' };
  const { shapes } = findPlaces({
    hotspots: [{ ...hotspot, placements: [{ frame_index: 5, x_normalized: 0.5, y_normalized: 0.5 }] }],
    vin: { value: '7ZZ', characters: [{ character: 'Z', bbox }] },
    marks: [{ mark: 'mud_and_snow', bbox }],
  });
  expect(shapes.map(({ label }) => label).toSorted()).toEqual(['Scratch on the door', 'Z', 'mud and snow']);
});

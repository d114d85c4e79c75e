/** The places that the console finds in the results of every endpoint. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findPlaces } from '../../../src/api/pages/find-shapes.ts';
import { PROJECT_DIRECTORY } from '../../support/processes.ts';

const fixtures = globSync('src/endpoints/*/fixtures/default.json', { cwd: PROJECT_DIRECTORY }).toSorted();

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

describe.each(fixtures)('%s', (path) => {
  const text = readFileSync(PROJECT_DIRECTORY + path, 'utf8');
  const { shapes } = findPlaces(JSON.parse(text));

  it('has a shape for each thing with a place, inside of which all its points lie', () => {
    const places = count(text, /"bbox": \{|"quad": \[|"polygon": \[|"polygons": \[|"x_normalized"/g);
    expect(shapes.length > 0).toBe(places > 0);
    for (const { points, label } of shapes) {
      expect(label).not.toBe('');
      for (const { x, y } of points) expect(Number.isFinite(x) && Number.isFinite(y) && x >= 0 && y >= 0).toBe(true);
    }
  });
});

it('prefers an outline to its box, keeps the picture of a place, and names it', () => {
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

it('finds files with their place in the result', () => {
  const file = {
    object: 'artefact',
    media_type: 'image/png',
    url: 'https://api.example/v1/artefacts/a.png',
    expires_at: 1,
  };
  expect(findPlaces({ vehicles: [], mask: file }).files).toMatchObject([{ name: 'mask', path: 'mask', url: file.url }]);
});

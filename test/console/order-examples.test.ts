/** The examples of the playground, in the order in which the results of test mode count them. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { orderedExamples } from '../../console/src/order-examples.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const paths = globSync('src/endpoints/*/fixtures/example*', { cwd: PROJECT_DIRECTORY }).map((path) => `/${path}`);
const namesOf = (slug: string) => orderedExamples(slug, paths.toReversed()).map(({ name }) => name);

it('examples are ordered with the front of a licence before its back, and numbers by their value', () => {
  expect(namesOf('driver_license.read')).toEqual(['driver_license-read.jpg', 'driver_license-read-back.jpg']);
  expect(namesOf('video.onboard')).toEqual(['video-onboard.mp4']);
  const many = ['', '-2', '-10'].map((suffix) => `/endpoints/inspections/fixtures/example${suffix}.jpg`);
  expect(orderedExamples('inspections', many.toReversed()).map(({ path }) => path)).toEqual(many);
});

it.each(endpoints.filter(({ files }) => files.minimum > 0))(
  '$slug has as many examples as it needs, each with its name',
  ({ slug, files }) => {
    const names = namesOf(slug);
    expect(names.length).toBeGreaterThanOrEqual(files.minimum);
    expect(new Set(names).size).toBe(names.length);
  },
);

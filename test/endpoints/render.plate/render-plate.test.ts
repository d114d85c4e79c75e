import sharp from 'sharp';
import { expect, test } from 'vitest';
import { applyParameters, type Fixture } from '../../../src/endpoints/render.plate/apply-parameters.ts';
import { renderPlate } from '../../../src/endpoints/render.plate/contract.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { missizedPictures, readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'render.plate';
const whole = fixtureOf<Fixture>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });

test.each([
  [{ mode: 'remove' }, invalid('mode')],
  [{ mode: null }, invalid('mode')],
  [{ replacement_text: '' }, invalid('replacement_text')],
  [{ replacement_text: 'THIRTEEN 1234' }, invalid('replacement_text')],
  [{ replacement_text: '<b>' }, invalid('replacement_text')],
  [{ replacement_text: 7 }, invalid('replacement_text')],
  [{ fill_color: 'black' }, invalid('fill_color')],
  [{ color: '#000000' }, { code: 'parameter_unknown', param: 'color' }],
  [{ mode: 'replace', replacement_text: 'MÜ·AB 12-3', fill_color: '#FFffFF' }, null],
  [{ mode: 'mask', fill_color: '#000000' }, null],
  [{}, null],
])('render.plate validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(renderPlate, parameters)).toEqual(refusal);
});

test('render.plate requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(renderPlate, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(renderPlate, { mode: ['blur', 'mask'] })).toEqual(invalid('mode'));
});

test.each([
  [{ mode: 'blur', replacement_text: 'ABC' }, 'replacement_text'],
  [{ mode: 'mask', replacement_text: 'ABC' }, 'replacement_text'],
  [{ mode: 'blur', fill_color: '#000000' }, 'fill_color'],
  [{ mode: 'mask', fill_color: '#000000' }, null],
  [{ mode: 'replace', replacement_text: 'ABC', fill_color: '#000000' }, null],
  [{ mode: 'blur' }, null],
])('render.plate refuses parameters that do not match the mode: %j', (parameters, param) => {
  expect(renderPlate.refine({ parameters, files: [] })?.param ?? null).toBe(param);
});

test('render.plate returns the picture of each mode and echoes the request', () => {
  expect(applyParameters(whole, {})).toMatchObject({
    mode: 'blur',
    image: { file: 'blurred.jpg' },
    fill_color: null,
    replacement_text: null,
  });
  expect(applyParameters(whole, { mode: 'mask' })).toMatchObject({
    image: { file: 'masked.jpg' },
    fill_color: '#26292c',
  });
  expect(applyParameters(whole, { mode: 'replace', replacement_text: 'SALE', fill_color: '#FFEE00' })).toMatchObject({
    image: { file: 'replaced.jpg' },
    fill_color: '#ffee00',
    replacement_text: 'SALE',
  });
});

test.each(['blurred.jpg', 'masked.jpg', 'replaced.jpg'])(
  '%s differs from the example only on the plate',
  async (file) => {
    const { bbox } = whole.plates[0] ?? {};
    if (!bbox) throw new Error('the default fixture has a plate');
    const area = {
      left: Math.ceil(bbox.x),
      top: Math.ceil(bbox.y),
      width: Math.floor(bbox.width),
      height: Math.floor(bbox.height),
    };
    const meanOf = async (picture: string, region: typeof area) => {
      const { channels } = await sharp(
        await sharp(readFixtureFile(SLUG, picture)).greyscale().extract(region).toBuffer(),
      ).stats();
      return { mean: channels[0]?.mean ?? 0, spread: channels[0]?.stdev ?? 0 };
    };
    const roof = { left: 160, top: 60, width: 150, height: 70 };
    expect(Math.abs((await meanOf(file, area)).spread - (await meanOf('example.jpg', area)).spread)).toBeGreaterThan(
      10,
    );
    expect((await meanOf(file, roof)).mean).toBeCloseTo((await meanOf('example.jpg', roof)).mean, 0);
  },
);

test('the default fixture of render.plate lies within the example picture, with files of the stated sizes', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
  expect(await missizedPictures(SLUG)).toEqual([]);
});

/** Previews: what is made of pictures, and what a picture cannot do to the worker that asked. */

import sharp from 'sharp';
import { expect, test } from 'vitest';
import { makePreviews } from '../../../../src/inference/bundles/previews/make-previews.ts';
import { rejectionOf } from '../../support/tiny-endpoint.ts';

const size = { width: 100, height: 100 };
const never = new AbortController().signal;
const MEGABYTE = 2 ** 20;

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } });

test('previews come in order, upright and within the box, with null for an unreadable picture', async () => {
  const turned = await picture(400, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const small = await picture(40, 30).png().toBuffer();
  const files = [turned, Buffer.from('not a picture'), small];
  const previews = await makePreviews(async (index) => files[index] as Buffer, 3, { size, signal: never });
  expect(previews.map((each) => each && [each.width, each.height])).toEqual([[50, 100], null, [40, 30]]);
  expect(previews[0]?.picture).toEqual({ width: 200, height: 400 });
  const { format, exif } = await sharp(previews[0]?.jpeg).metadata();
  expect({ format, exif }).toEqual({ format: 'jpeg', exif: undefined });
});

test('a picture beyond the memory limit gets no preview, and the next one does', async () => {
  const files = [await picture(7_000, 7_000).png().toBuffer(), await picture(300, 300).png().toBuffer()];
  const read = async (index: number) => files[index] as Buffer;
  const previewsIn = (workingMemoryBytes: number) => makePreviews(read, 2, { size, signal: never, workingMemoryBytes });
  expect((await previewsIn(100 * MEGABYTE)).map((each) => each?.width ?? null)).toEqual([null, 100]);
  expect((await previewsIn(1_500 * MEGABYTE)).map((each) => each?.width ?? null)).toEqual([100, 100]);
});

test("aborted previews reject with the signal's reason", async () => {
  const stopping = new AbortController();
  const reason = new Error('the job was cancelled');
  const read = async () => {
    stopping.abort(reason);
    return picture(300, 300).png().toBuffer();
  };
  expect(await rejectionOf(makePreviews(read, 1, { size, signal: stopping.signal }))).toBe(reason);
});

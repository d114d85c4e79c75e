/** The pipeline with a segmentation network of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/parts.decompose/pipeline.ts';
import type { Result } from '../../../src/endpoints/parts.decompose/result.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import { smoothPicture } from '../../inference/support/exported-models.ts';
import { partCells } from '../../inference/support/part-cells.ts';
import { modelSaying, sent } from '../../inference/support/saying-model.ts';

interface Made extends Omit<Result, 'parts' | 'exploded_view'> {
  parts: (Omit<Result['parts'][number], 'cut_out'> & { cut_out: MadePicture })[];
  exploded_view: { width: number; height: number; image: MadePicture | null } | null;
}

const scene = partCells({
  hood: [
    [1, 1],
    [2, 1],
    [1, 2],
    [2, 2],
  ],
  grille: [[5, 5]],
  'mirror.left': [[7, 0]],
});
const picture = smoothPicture(64, 64);

const run = async (parameters = {}, detector = scene) =>
  (await pipeline.create(modelSaying({ detector }))({ pictures: sent(picture), parameters })) as Made;

test('parts.decompose cuts each part out to its box with the pixels of the picture', async () => {
  const { parts } = await run();
  expect(parts.map(({ part }) => part)).toEqual(['hood', 'grille', 'mirror']);
  const [hood] = parts;
  const { x = 0, y = 0, width = 0, height = 0 } = hood?.bbox ?? {};
  expect(hood?.cut_out).toMatchObject({ width, height, channels: 4, format: 'webp' });
  const [column, row] = [Math.floor(width / 2), Math.floor(height / 2)];
  const seen = hood?.cut_out.pixels.subarray((row * width + column) * 4, (row * width + column + 1) * 4);
  const source = ((y + row) * 64 + x + column) * 3;
  expect([...(seen ?? [])]).toEqual([...picture.pixels.subarray(source, source + 3), 255]);
});

test('parts.decompose spreads the parts within the exploded view', async () => {
  const { parts, exploded_view } = await run();
  const [hood, grille] = parts;
  const apart = (places: ({ x: number } | undefined)[]) => (places[1]?.x ?? 0) - (places[0]?.x ?? 0);
  expect(apart([hood?.layout, grille?.layout])).toBeGreaterThan(apart([hood?.bbox, grille?.bbox]));
  for (const { layout, cut_out } of parts) {
    expect([layout.width, layout.height]).toEqual([cut_out.width, cut_out.height]);
    expect(Math.min(layout.x, layout.y)).toBeGreaterThanOrEqual(20);
    expect(layout.x + layout.width + 20).toBeLessThanOrEqual(exploded_view?.width ?? 0);
    expect(layout.y + layout.height + 20).toBeLessThanOrEqual(exploded_view?.height ?? 0);
  }
});

test('parts.decompose draws every part on the requested exploded view', async () => {
  expect((await run()).exploded_view?.image).toBeNull();
  const { parts, exploded_view } = await run({ include_exploded_view: true, parts: ['grille'] });
  expect(parts).toHaveLength(1);
  const { pixels = new Uint8Array(), width = 0, height = 0 } = exploded_view?.image ?? {};
  expect([width, height]).toEqual([exploded_view?.width, exploded_view?.height]);
  const opaque = pixels.filter((value, index) => index % 4 === 3 && value === 255).length;
  const ofAll = (await run()).parts.reduce(
    (sum, { cut_out }) => sum + cut_out.pixels.filter((value, index) => index % 4 === 3 && value === 255).length,
    0,
  );
  expect(opaque).toBe(ofAll);
});

test('parts.decompose returns no exploded view without parts', async () => {
  expect(await run({ include_exploded_view: true }, partCells({ hood: [] }))).toMatchObject({
    parts: [],
    exploded_view: null,
  });
});

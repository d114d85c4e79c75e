/** Each reading endpoint, with the networks that come with the project, on a drawing and on the same drawing degraded. */
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { endpoints } from '../../src/endpoints/list.ts';
import type { Model } from '../../src/inference/models/model.ts';
import { importPipeline, pipelineUrl } from '../../src/inference/toolkit/endpoint-folder.ts';
import { decodeImage } from '../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../src/inference/toolkit/images/rgb-image.ts';
import { createResultCheck } from '../../src/inference/toolkit/result-check.ts';
import { blurred, croppedTo, exposed, reduced, shaken } from '../../training/degraded-pictures.ts';
import { openInstalledModel } from '../inference/support/installed-model.ts';
import { sent } from '../inference/support/saying-model.ts';

const check = createResultCheck(endpoints);
const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);

const example = (slug: string) => readFile(new URL(`${slug}/fixtures/example.jpg`, endpointsDirectory));

const drawnPlate = () =>
  sharp(
    Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="640"><rect width="960" height="640" fill="#777"/>' +
        '<rect x="280" y="270" width="400" height="90" rx="8" fill="#eee"/>' +
        '<text x="480" y="341" font-family="DejaVu Sans" font-weight="bold" font-size="72" text-anchor="middle">AB12 CDE</text></svg>',
    ),
  )
    .jpeg({ quality: 95 })
    .toBuffer();

const middleThird = (picture: RgbImage) =>
  croppedTo(picture, { x0: 0.35 * picture.width, y0: 0, x1: 0.7 * picture.width, y1: picture.height });

interface Case {
  slug: string;
  draw: () => Promise<Buffer>;
  degrade: (picture: RgbImage) => RgbImage;
  reasons: string[];
}

const cases: Case[] = [
  {
    slug: 'vin.read',
    draw: () => example('vin.read'),
    degrade: (picture) => blurred(picture, 6),
    reasons: ['blurred', 'no_vin'],
  },
  { slug: 'plate.read', draw: drawnPlate, degrade: (picture) => shaken(picture, 40), reasons: ['blurred', 'no_plate'] },
  {
    slug: 'dashboard.read',
    draw: () => example('dashboard.read'),
    degrade: (picture) => exposed(picture, -8),
    reasons: ['too_dark', 'no_dashboard'],
  },
  {
    slug: 'tire.read',
    draw: () => example('tire.read'),
    degrade: (picture) => blurred(picture, 14),
    reasons: ['blurred', 'no_tire'],
  },
  {
    slug: 'document.read',
    draw: () => example('document.read'),
    degrade: (picture) => reduced(picture, 0.35),
    reasons: ['low_resolution'],
  },
  {
    slug: 'driver_license.read',
    draw: () => example('driver_license.read'),
    degrade: middleThird,
    reasons: ['cropped', 'no_document'],
  },
];

/** Opened once, for the endpoints that share them. */
const models = new Map<string, Promise<Model>>();

test.each(cases)(
  '$slug gives no reason for a good drawing, and $reasons for the same one degraded',
  async ({ slug, draw, degrade, reasons }) => {
    const name = slug === 'dashboard.read' ? 'dashboard-reader' : 'print-reader';
    const model = models.get(name) ?? openInstalledModel(name);
    models.set(name, model);
    const run = (await importPipeline(pipelineUrl(endpointsDirectory, slug))).create(await model);
    const reasonsOf = async (picture: RgbImage) => {
      const result = (await run({ pictures: sent(picture), parameters: {} })) as Record<string, { reason: string }[]>;
      expect(check(slug, result)).toBeNull();
      return (result.quality_issues ?? result.issues)?.map(({ reason }) => reason);
    };
    const good = await decodeImage(await draw());
    expect(await reasonsOf(good)).toEqual([]);
    expect(await reasonsOf(degrade(good))).toEqual(reasons);
  },
  300_000,
);

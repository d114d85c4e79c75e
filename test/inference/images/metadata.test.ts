/** Where a picture was taken, and by whom, does not leave with the files that are made of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { Type } from 'typebox';
import { ARTEFACT_MEDIA_TYPES } from '../../../src/contracts/media-limits.ts';
import { findMetadata } from '../../../src/domain/embedded-metadata.ts';
import { createSignedUrls } from '../../../src/domain/signed-urls.ts';
import { type ArtefactFile, createArtefactWriter } from '../../../src/inference/artefacts.ts';
import type { OnnxBackend } from '../../../src/inference/onnx-backend.ts';
import { createTinyBackend, recordingLog, standInArtefacts, tinyAdd, tinyRequest } from '../tiny-endpoint.ts';
import {
  exifOf,
  exifSegment,
  jpegSegment,
  MARKER,
  pngChunk,
  webp,
  webpCanvas,
  webpChunk,
  withJpegSegments,
  withPngChunks,
} from './crafted-files.ts';

const plain = sharp({ create: { width: 24, height: 16, channels: 3, background: '#3366cc' } });
const plainJpeg = await plain.clone().jpeg().toBuffer();
const plainPng = await plain.clone().png().toBuffer();
const plainWebp = await plain.clone().webp().toBuffer();

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const exif = exifOf(6);
const xmp = latin1(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><dc:creator>${MARKER}</dc:creator></x:xmpmeta>`);
const iptc = Buffer.concat([latin1('Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x18\x1c\x02\x50\0\x13'), latin1(MARKER)]);

/** Each says where it was taken, or plants the marker, in one way. */
const planted: Record<string, Buffer> = {
  'a JPEG with EXIF and GPS': withJpegSegments(plainJpeg, [exifSegment(exif)]),
  'a JPEG with XMP': withJpegSegments(plainJpeg, [
    jpegSegment(0xe1, Buffer.concat([latin1('http://ns.adobe.com/xap/1.0/\0'), xmp])),
  ]),
  'a JPEG with IPTC': withJpegSegments(plainJpeg, [jpegSegment(0xed, iptc)]),
  'a JPEG with a comment': withJpegSegments(plainJpeg, [jpegSegment(0xfe, latin1(MARKER))]),
  'a PNG with EXIF and GPS': withPngChunks(plainPng, [pngChunk('eXIf', exif)]),
  'a PNG with text': withPngChunks(plainPng, [pngChunk('tEXt', latin1(`Author\0${MARKER}`))]),
  'a PNG with XMP': withPngChunks(plainPng, [
    pngChunk('iTXt', Buffer.concat([latin1('XML:com.adobe.xmp\0\0\0\0\0'), xmp])),
  ]),
  'a WebP with EXIF, GPS and XMP': webp(
    webpCanvas(24, 16, 0x0c),
    plainWebp.subarray(12),
    webpChunk('EXIF', exif),
    webpChunk('XMP ', xmp),
  ),
};
const PLANTED_MEDIA_TYPES: Readonly<Record<string, string>> = {
  JPEG: 'image/jpeg',
  PNG: 'image/png',
  WebP: 'image/webp',
};
const mediaTypeOf = (name: string) => PLANTED_MEDIA_TYPES[name.split(' ')[1] ?? ''] ?? '';

const tinyCopy = { ...tinyAdd, slug: 'tiny.copy', result: Type.Any() };
let onnx: OnnxBackend;
let stored: Uint8Array;
let written: ArtefactFile[];

beforeAll(async () => {
  onnx = await createTinyBackend({
    store: { get: async () => stored },
    writeArtefact: async (file) => {
      written.push(file);
      return standInArtefacts(file);
    },
    logger: recordingLog().log,
    endpoints: [tinyCopy],
  });
});
afterAll(() => onnx.close());

describe.each(Object.entries(planted))('of %s', (name, file) => {
  test('the metadata is there to be found', () => {
    expect(file.includes(MARKER)).toBe(true);
    expect(findMetadata(file, mediaTypeOf(name))).not.toBeNull();
  });

  test('nothing is left in what is made of it, in any format', async () => {
    stored = file;
    written = [];
    const outcome = await onnx.infer(tinyRequest({ endpoint: 'tiny.copy' }), { signal: new AbortController().signal });
    expect(outcome.status).toBe('succeeded');
    expect(written.map(({ mediaType }) => mediaType)).toEqual([
      'image/jpeg',
      'image/png',
      'image/webp',
      'image/png',
      'image/png',
      'image/webp',
    ]);
    for (const { content, mediaType } of written) {
      const bytes = Buffer.from(content);
      expect(findMetadata(bytes, mediaType)).toBeNull();
      for (const trace of [MARKER, 'Exif', 'xmpmeta', 'adobe', 'Photoshop']) expect(bytes.includes(trace)).toBe(false);
      const { exif, xmp, iptc } = await sharp(bytes).metadata();
      expect([exif, xmp, iptc]).toEqual([undefined, undefined, undefined]);
    }
  });

  test('a file that still has it is stored by no one', async () => {
    const names: string[] = [];
    const write = createArtefactWriter({
      store: { put: async (key: string) => void names.push(key) },
      signedUrls: createSignedUrls('https://api.example', 'a key'),
    });
    const mediaType = mediaTypeOf(name);
    const made = { mediaType, extension: 'bin', width: 24, height: 16 };
    await expect(write({ ...made, content: file })).rejects.toThrow(/carries metadata/);
    expect(names).toEqual([]);
  });
});

describe('behind a picture, and between the scans of one', () => {
  const withGps = planted['a JPEG with EXIF and GPS'] ?? Buffer.of();
  const END = 'bytes behind its end';
  const behindIend = pngChunk('tEXt', latin1(MARKER));

  test.each([
    { what: 'a JPEG behind a JPEG', file: Buffer.concat([plainJpeg, withGps]), mediaType: 'image/jpeg' },
    { what: 'text behind a JPEG', file: Buffer.concat([plainJpeg, latin1(MARKER)]), mediaType: 'image/jpeg' },
    { what: 'one byte behind a JPEG', file: Buffer.concat([plainJpeg, Buffer.of(0)]), mediaType: 'image/jpeg' },
    { what: 'a JPEG behind a PNG', file: Buffer.concat([plainPng, withGps]), mediaType: 'image/png' },
    { what: 'a chunk behind a PNG', file: Buffer.concat([plainPng, behindIend]), mediaType: 'image/png' },
    {
      what: 'what the last chunk of a PNG holds',
      file: Buffer.concat([plainPng.subarray(0, -12), pngChunk('IEND', latin1(MARKER))]),
      mediaType: 'image/png',
    },
  ])('$what is found', ({ file, mediaType }) => {
    expect(findMetadata(file, mediaType)).toBe(END);
  });

  test('a WebP behind a WebP is found', () => {
    expect(findMetadata(Buffer.concat([plainWebp, plainWebp]), 'image/webp')).toBe('chunk RIFF');
  });

  test.each([
    { what: 'EXIF', segment: exifSegment(exif), found: 'segment e1' },
    { what: 'a comment', segment: jpegSegment(0xfe, latin1(MARKER)), found: 'segment fe' },
    { what: 'a segment that no decoder knows', segment: jpegSegment(0xf4, latin1(MARKER)), found: 'segment f4' },
    { what: 'the start of another picture', segment: withGps, found: 'segment d8' },
  ])('$what before the last scan of a progressive JPEG is found', async ({ segment, found }) => {
    const progressive = await plain.clone().jpeg({ progressive: true }).toBuffer();
    const lastScan = progressive.lastIndexOf(Buffer.of(0xff, 0xda));
    expect(lastScan).toBeGreaterThan(progressive.indexOf(Buffer.of(0xff, 0xda)));
    expect(findMetadata(progressive, 'image/jpeg')).toBeNull();
    const planted = Buffer.concat([progressive.subarray(0, lastScan), segment, progressive.subarray(lastScan)]);
    expect(findMetadata(planted, 'image/jpeg')).toBe(found);
  });

  test('stuffed bytes, restarts and fill bytes are none, and a JPEG that breaks off has no end', () => {
    const start = plainJpeg.subarray(0, -2);
    const inScan = Buffer.of(0xff, 0x00, 0xff, 0xd0, 0x12, 0xff, 0xd7, 0x34);
    const end = Buffer.of(0xff, 0xff, 0xff, 0xd9);
    expect(findMetadata(Buffer.concat([start, inScan, end]), 'image/jpeg')).toBeNull();
    for (const brokenOff of [start, Buffer.concat([start, inScan]), Buffer.concat([start, Buffer.of(0xff)])]) {
      expect(findMetadata(brokenOff, 'image/jpeg')).toBe('no end');
    }
    expect(findMetadata(plainPng.subarray(0, -12), 'image/png')).toBe('no end');
  });
});

test('a film that says where it was taken is found', () => {
  const box = (type: string, content: Buffer) => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(8 + content.length);
    return Buffer.concat([header, latin1(type), content]);
  };
  const place = box('udta', box('\xa9xyz', latin1('\0\x12\x15\xc7+52.5200+013.4100/')));
  const film = (...boxes: Buffer[]) => Buffer.concat([box('ftyp', latin1('isom\0\0\0\0')), ...boxes]);
  expect(findMetadata(film(box('moov', place)), 'video/mp4')).toBe('\xa9xyz');
  expect(findMetadata(film(box('moov', Buffer.alloc(40)), box('mdat', latin1('\xa9xyz'))), 'video/mp4')).toBeNull();
});

test('a PDF that shows a picture with EXIF is found', () => {
  const pdf = Buffer.concat([latin1('%PDF-1.7\nstream\n'), planted['a JPEG with EXIF and GPS'] ?? Buffer.of()]);
  expect(findMetadata(pdf, 'application/pdf')).toBe('Exif\0\0');
});

test('no file of a fixture has any', () => {
  const folder = fileURLToPath(new URL('../../../src/endpoints/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/fixtures\/.*\.(?:jpg|png|webp|mp4|pdf)$/.test(path),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.map((path) => ({
    path,
    metadata: findMetadata(readFileSync(`${folder}${path}`), ARTEFACT_MEDIA_TYPES[path.split('.').at(-1) ?? ''] ?? ''),
  }));
  expect(found.filter(({ metadata }) => metadata !== null)).toEqual([]);
});

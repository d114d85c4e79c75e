/** Where a picture was taken, and by whom, does not leave with the files that are made of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ArtefactFile, createArtefactWriter } from '../../../../src/artefacts/artefact-writer.ts';
import { FileFault } from '../../../../src/artefacts/inspection/file-fault.ts';
import { provenancePacket } from '../../../../src/artefacts/provenance.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../../src/contracts/media-limits.ts';
import type { OnnxBackend } from '../../../../src/inference/backends/onnx-backend.ts';
import { createSignedUrls } from '../../../../src/platform/signed-urls.ts';
import { faultOf } from '../../../artefacts/inspection/fault-of.ts';
import {
  exifOf,
  exifSegment,
  jpegSegment,
  MARKER,
  plainPictures,
  pngChunk,
  webp,
  webpCanvas,
  webpChunk,
  withJpegSegments,
  withPngChunks,
} from '../../support/crafted-files.ts';
import {
  createTinyBackend,
  recordingLog,
  standInArtefacts,
  tinyAdd,
  tinyRequest,
} from '../../support/tiny-endpoint.ts';

const { plainJpeg, plainPng, plainWebp } = await plainPictures(24, 16);

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

describe.each(Object.entries(planted))('the metadata of %s', (name, file) => {
  test('the metadata is present in the input', () => {
    expect(file.includes(MARKER)).toBe(true);
    expect(faultOf(file, mediaTypeOf(name))).not.toBeNull();
  });

  test('a picture that the service makes states only what the service did, in any output format', async () => {
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
      expect(faultOf(bytes, mediaType)).toBeNull();
      for (const trace of [MARKER, 'Exif', 'Photoshop', 'dc:creator']) expect(bytes.includes(trace)).toBe(false);
      const { exif, xmp, iptc } = await sharp(bytes).metadata();
      expect([exif, iptc]).toEqual([undefined, undefined]);
      expect(xmp?.toString('utf8')).toBe(provenancePacket(['plate_blur']));
    }
  });

  test('a file with metadata is never stored', async () => {
    const names: string[] = [];
    const write = createArtefactWriter({
      store: { put: async (key: string) => void names.push(key) },
      signedUrls: createSignedUrls('https://api.example', 'a key'),
    });
    const mediaType = mediaTypeOf(name);
    const made = { mediaType, extension: 'bin', width: 24, height: 16 };
    await expect(write({ ...made, content: file })).rejects.toThrow(FileFault);
    expect(names).toEqual([]);
  });
});

test('no fixture file has metadata', () => {
  const folder = fileURLToPath(new URL('../../../../src/endpoints/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/fixtures\/.*\.(?:jpg|png|webp|mp4|pdf)$/.test(path),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.map((path) => ({
    path,
    fault: faultOf(readFileSync(`${folder}${path}`), ARTEFACT_MEDIA_TYPES[path.split('.').at(-1) ?? ''] ?? ''),
  }));
  expect(found.filter(({ fault }) => fault !== null)).toEqual([]);
});

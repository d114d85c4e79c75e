/** A picture that the service made says so, and says nothing else. */

import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { isProvenancePacket, JPEG_XMP_NAME, PNG_XMP_HEADER, provenancePacket } from '../../src/artefacts/provenance.ts';
import { PICTURE_EDITS, type PictureEdit } from '../../src/contracts/vocabulary/provenance.ts';
import type { OutputFormat } from '../../src/contracts/vocabulary/renders.ts';
import { encodePicture } from '../../src/inference/toolkit/images/encode-image.ts';
import {
  jpegSegment,
  plainPictures,
  pngChunk,
  webp,
  webpCanvas,
  webpChunk,
  withJpegSegments,
  withPngChunks,
} from '../inference/support/crafted-files.ts';
import { faultOf } from './inspection/fault-of.ts';

const MEDIA_TYPES = { jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const;
const edited = fc.array(fc.constantFrom(...PICTURE_EDITS), { maxLength: 16 });
const { plainJpeg, plainPng, plainWebp } = await plainPictures(24, 16);
const bytesOf = (packet: string) => Buffer.from(packet);
const made = (format: OutputFormat, channels: 1 | 3 | 4, edits: readonly PictureEdit[]) =>
  encodePicture({
    object: 'made_picture',
    width: 24,
    height: 16,
    channels,
    pixels: new Uint8Array(24 * 16 * channels).fill(90),
    format,
    edits,
  });

describe.each(['jpg', 'png', 'webp'] as const)('a %s', (format) => {
  test('a picture carries what was done to it, whatever that was, and passes the inspection', async () => {
    await fc.assert(
      fc.asyncProperty(edited, fc.constantFrom(1, 3), async (edits, channels) => {
        const file = Buffer.from(await made(format, channels, edits));
        const { xmp, exif, iptc, icc } = await sharp(file).metadata();
        expect(xmp?.toString('utf8')).toBe(provenancePacket(edits));
        expect([exif, iptc, icc]).toEqual([undefined, undefined, undefined]);
        expect(faultOf(file, MEDIA_TYPES[format])).toBeNull();
      }),
      { numRuns: 20 },
    );
  });

  test('a picture carries its provenance once, in clear', async () => {
    const file = Buffer.from(await made(format, 3, ['denoise']));
    const packet = provenancePacket(['denoise']);
    expect(file.indexOf(packet)).toBeGreaterThan(0);
    expect(file.indexOf(packet)).toBe(file.lastIndexOf(packet));
  });
});

test('a cut-out with opacity carries its provenance, too', async () => {
  for (const format of ['png', 'webp'] as const) {
    const file = Buffer.from(await made(format, 4, ['cut_out']));
    expect((await sharp(file).metadata()).xmp?.toString('utf8')).toBe(provenancePacket(['cut_out']));
    expect(faultOf(file, MEDIA_TYPES[format])).toBeNull();
  }
});

test.each<[PictureEdit[], string | null]>([
  [['background_replacement'], 'compositeWithTrainedAlgorithmicMedia'],
  [['denoise', 'upscale'], 'compositeWithTrainedAlgorithmicMedia'],
  [['plate_blur'], 'algorithmicallyEnhanced'],
  [['exposure_correction', 'white_balance'], 'algorithmicallyEnhanced'],
  [[], null],
])('provenance names %j as IPTC does: %s', (edits, type) => {
  const [, named = null] =
    /<Iptc4xmpExt:DigitalSourceType>http:\/\/cv\.iptc\.org\/newscodes\/digitalsourcetype\/(\w+)</.exec(
      provenancePacket(edits),
    ) ?? [];
  expect(named).toBe(type);
});

test('provenance lists the edits in their order', () => {
  const packet = provenancePacket(['denoise', 'sharpen', 'upscale']);
  expect([...packet.matchAll(/<stEvt:parameters>(\w+)</g)].map(([, edit]) => edit)).toEqual([
    'denoise',
    'sharpen',
    'upscale',
  ]);
});

describe('a packet of provenance', () => {
  test('a packet of provenance is not recognised with any byte changed, left out or added', () => {
    fc.assert(
      fc.property(edited, fc.nat(), fc.integer({ min: 0, max: 255 }), (edits, at, byte) => {
        const packet = bytesOf(provenancePacket(edits));
        expect(isProvenancePacket(packet)).toBe(true);
        const place = at % packet.length;
        const changed = Buffer.from(packet);
        changed[place] = byte;
        // No two names of edits differ in a single byte.
        expect(isProvenancePacket(changed)).toBe(changed.equals(packet));
        const longer = Buffer.concat([packet.subarray(0, place), Buffer.of(byte), packet.subarray(place)]);
        expect(isProvenancePacket(longer)).toBe(false);
        expect(isProvenancePacket(packet.subarray(0, place))).toBe(false);
      }),
    );
  });

  test.each([
    ['an edit of its own', provenancePacket(['denoise']).replace('denoise', 'planted')],
    ['a place', provenancePacket([]).replace('</xmp:CreatorTool>', '</xmp:CreatorTool><exif:GPSLatitude/>')],
    ['another tool', provenancePacket([]).replace('Vehicle', 'Somebody')],
    ['another source type', provenancePacket(['denoise']).replace('algorithmicallyEnhanced', 'digitalCapture')],
    ['more edits than a picture has', provenancePacket(Array.from({ length: 17 }, () => 'denoise' as const))],
    ['no packet', ''],
  ])('a packet of provenance is not recognised with %s', (_, packet) => {
    expect(isProvenancePacket(bytesOf(packet))).toBe(false);
  });
});

describe('a file with a packet of provenance', () => {
  const own = provenancePacket(['denoise']);
  const foreign = own.replace('Vehicle', 'Somebody');
  const segment = (packet: string) =>
    jpegSegment(0xe1, Buffer.concat([Buffer.from(JPEG_XMP_NAME, 'latin1'), bytesOf(packet)]));
  const chunk = (packet: string) =>
    pngChunk('iTXt', Buffer.concat([Buffer.from(PNG_XMP_HEADER, 'latin1'), bytesOf(packet)]));
  const picture = plainWebp.subarray(12);
  const canvas = webpCanvas(24, 16, 0x04);

  test.each([
    ['JPEG', MEDIA_TYPES.jpg, withJpegSegments(plainJpeg, [segment(own)])],
    ['PNG', MEDIA_TYPES.png, withPngChunks(plainPng, [chunk(own)])],
    ['WebP', MEDIA_TYPES.webp, webp(canvas, picture, webpChunk('XMP ', bytesOf(own)))],
  ])('a %s is accepted with the packet of the service', (_, mediaType, file) => {
    expect(faultOf(file, mediaType)).toBeNull();
  });

  test.each([
    ['JPEG with another packet', MEDIA_TYPES.jpg, withJpegSegments(plainJpeg, [segment(foreign)]), 'APP1'],
    ['JPEG with two', MEDIA_TYPES.jpg, withJpegSegments(plainJpeg, [segment(own), segment(own)]), 'APP1 out of order'],
    ['PNG with another packet', MEDIA_TYPES.png, withPngChunks(plainPng, [chunk(foreign)]), 'iTXt'],
    ['PNG with two', MEDIA_TYPES.png, withPngChunks(plainPng, [chunk(own), chunk(own)]), 'iTXt'],
    ['WebP with another packet', MEDIA_TYPES.webp, webp(canvas, picture, webpChunk('XMP ', bytesOf(foreign))), 'XMP'],
    ['WebP that only announces it', MEDIA_TYPES.webp, webp(canvas, picture), 'XMP'],
    [
      'WebP that does not',
      MEDIA_TYPES.webp,
      webp(webpCanvas(24, 16, 0), picture, webpChunk('XMP ', bytesOf(own))),
      'XMP',
    ],
  ])('a file is refused unless it holds one announced packet of the service: %s', (_, mediaType, file, fault) => {
    expect(faultOf(file, mediaType)).toContain(fault);
  });
});

/**
 * Files made to hurt, through real child processes: each is read as the picture that it is, or fails its job with advice,
 * charged nothing, within bounded memory; and its process continues.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MEGABYTE } from '../../../../src/contracts/media-limits.ts';
import type { OnnxBackend } from '../../../../src/inference/backends/onnx-backend.ts';
import {
  exifBomb,
  exifSegment,
  greyRows,
  iccSegments,
  jpegOfManyScans,
  jpegSegment,
  MARKER,
  plainPictures,
  png,
  pngChunk,
  pngStart,
  webp,
  webpCanvas,
  webpChunk,
  withJpegSegments,
  withJpegSize,
  withPngChunks,
  zip,
} from '../../support/crafted-files.ts';
import { createTinyBackend, recordingLog, tinyRequest } from '../../support/tiny-endpoint.ts';

const { plain, plainJpeg, plainPng, plainWebp } = await plainPictures(60, 40);
const plainAvif = await plain.clone().avif().toBuffer();

/** 250 MB of zeros in 250 KB. */
const bomb = deflateSync(Buffer.alloc(250_000_000));
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><image href="file:///etc/passwd"/></svg>';
/** A grey square, written by libheif and x265. */
const heic = Buffer.from(
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAXxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABoAABAAAAAAAAACoAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA/GlwcnAAAADcaXBjbwAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBiQAAABNjb2xybmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAAChjbGFwAAAAEAAAAAEAAAAQAAAAAf///9AAAAAC////0AAAAAIAAAAQcGl4aQAAAAADCAgIAAAAGGlwbWEAAAAAAAAAAQABBYECAwWEAAAAMm1kYXQAAAAmKAGvEyEtlvhOUKf/1OjNDJVMWrlPpXPdClCTcn64/vKHk8ViguA=',
  'base64',
);

const DAMAGED = /truncated or damaged. Send the complete original/;
const NO_PICTURE = /not a readable JPEG, PNG or WebP picture. Convert it/;
const TOO_LARGE = /too large: it may have at most 50,000,000 pixels, and 32,768 on a side. Send a smaller one/;
/** Read as a picture this wide. */
const READ = 60;

interface Case {
  file: () => Buffer | Promise<Buffer>;
  /** The width of the picture that is read, or the advice of the one that is not. */
  ends: number | RegExp;
  /** More than the process held before; 64 MB unless said. */
  megabytes?: number;
}

const jpegWith = (...segments: Buffer[]) => withJpegSegments(plainJpeg, segments);
const pngWith = (...chunks: Buffer[]) => withPngChunks(plainPng, chunks);
const latin1 = (text: string) => Buffer.from(text, 'latin1');

const cases: Record<string, Case> = {
  // Two files in one: the picture is read, and what lies behind or inside it is nobody's business.
  'a JPEG with an archive behind it': {
    file: () => Buffer.concat([plainJpeg, zip('a.class', latin1(MARKER))]),
    ends: READ,
  },
  'a JPEG with a film behind it, as phones write': {
    file: () => Buffer.concat([plainJpeg, Buffer.from('00000018667479706d703432', 'hex'), Buffer.alloc(100_000, 7)]),
    ends: READ,
  },
  'a PNG with a web page in its comment': {
    file: () => pngWith(pngChunk('tEXt', latin1('Comment\0<html><script>alert(1)</script>'))),
    ends: READ,
  },
  'a WebP with an unknown chunk': {
    file: () => webp(plainWebp.subarray(12), webpChunk('EVIL', latin1('<html></html>'))),
    ends: READ,
  },
  'the first bytes of a JPEG and then an SVG': {
    file: () => Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), latin1(svg)]),
    ends: DAMAGED,
  },
  'the signature of a PNG and then an SVG': {
    file: () => Buffer.concat([plainPng.subarray(0, 8), latin1(svg)]),
    ends: DAMAGED,
  },

  // Formats that no child process reads, whatever the door let pass.
  'an SVG': { file: () => latin1(svg), ends: NO_PICTURE },
  'an SVG behind a declaration of XML': { file: () => latin1(`<?xml version="1.0"?>${svg}`), ends: NO_PICTURE },
  'a GIF': { file: () => plain.clone().gif().toBuffer(), ends: NO_PICTURE },
  'a GIF with a Java archive behind it': {
    file: async () => Buffer.concat([await plain.clone().gif().toBuffer(), zip('A.class', latin1(MARKER))]),
    ends: NO_PICTURE,
  },
  'a TIFF': { file: () => plain.clone().tiff().toBuffer(), ends: NO_PICTURE },
  'a HEIC': { file: () => heic, ends: NO_PICTURE },
  'a HEIC that calls itself an AVIF': {
    file: () => Buffer.from(heic.toString('latin1').replace('ftypheic', 'ftypavif'), 'latin1'),
    ends: /./,
  },
  'a PDF': { file: () => latin1('%PDF-1.7\n1 0 obj'), ends: NO_PICTURE },

  // Sizes that headers claim.
  'a PNG header of 2,147,483,647 pixels on each side': {
    file: () => Buffer.concat([...pngStart({ width: 0x7fffffff, height: 0x7fffffff }), pngChunk('IDAT', bomb)]),
    ends: DAMAGED,
  },
  'a PNG of one row of 50 million pixels': {
    file: () => png({ width: 50_000_000, height: 1, colourType: 0 }, greyRows(50_000_000, 1)),
    ends: TOO_LARGE,
  },
  'a PNG of one column of a million pixels': {
    file: () => png({ width: 1, height: 1_000_000, colourType: 0 }, greyRows(1, 1_000_000)),
    ends: TOO_LARGE,
  },
  'a PNG of no width': { file: () => png({ width: 0, height: 40, colourType: 0 }, Buffer.alloc(40)), ends: DAMAGED },
  'a JPEG header of 65,500 pixels on each side': {
    file: () => withJpegSize(plainJpeg, 65_500, 65_500),
    ends: TOO_LARGE,
  },
  'a JPEG header of 65,500 × 700 pixels': { file: () => withJpegSize(plainJpeg, 65_500, 700), ends: TOO_LARGE },
  'a JPEG header of no height': { file: () => withJpegSize(plainJpeg, 60, 0), ends: DAMAGED },
  // Its data has an end, so it counts as whole; what is missing is grey.
  'a JPEG header of 49 megapixels and the data of 2 kilopixels': {
    file: () => withJpegSize(plainJpeg, 7_000, 7_000),
    ends: 7_000,
    megabytes: 400,
  },
  'a WebP canvas of 16,384 pixels on each side': {
    file: () => webp(webpCanvas(16_384, 16_384, 0), plainWebp.subarray(12)),
    ends: TOO_LARGE,
  },
  'a WebP frame header of 16,383 pixels on each side': { file: () => withWebpSize(16_383, 16_383), ends: TOO_LARGE },
  'a WebP frame header of 49 megapixels and the data of 2 kilopixels': {
    file: () => withWebpSize(7_000, 7_000),
    ends: DAMAGED,
    megabytes: 400,
  },
  'an AVIF of 80 megapixels': {
    file: () => withAvifSize(10_000, 8_000),
    ends: TOO_LARGE,
  },

  'an AVIF that lists 65,535 parts': {
    file: () => {
      const file = Buffer.from(plainAvif);
      file.writeUInt16BE(0xffff, file.indexOf('iinf', 0, 'latin1') + 8);
      return file;
    },
    ends: DAMAGED,
  },
  'a lossless WebP header of 16,384 pixels on each side': {
    file: () => webp(webpChunk('VP8L', Buffer.from('2fffffff0f00000000000000', 'hex'))),
    ends: TOO_LARGE,
  },

  // Few bytes that unpack to many.
  'a PNG whose data goes on for 250 MB after its last row': {
    file: () =>
      Buffer.concat([
        ...pngStart({ width: 60, height: 40, colourType: 0 }),
        pngChunk('IDAT', bomb),
        pngChunk('IEND', Buffer.of()),
      ]),
    ends: READ,
  },
  'a PNG with a text of 250 MB': {
    file: () => pngWith(pngChunk('zTXt', Buffer.concat([latin1('Comment\0\0'), bomb]))),
    ends: READ,
  },
  'a PNG with an XMP text of 250 MB': {
    file: () => pngWith(pngChunk('iTXt', Buffer.concat([latin1('XML:com.adobe.xmp\0\x01\0\0\0'), bomb]))),
    ends: READ,
  },
  'a PNG with 100 texts of 7 MB': {
    file: () => {
      const text = pngChunk('zTXt', Buffer.concat([latin1('Comment\0\0'), deflateSync(Buffer.alloc(7_000_000))]));
      return pngWith(...Array(100).fill(text));
    },
    ends: READ,
    megabytes: 200,
  },
  'a PNG with a colour profile of 250 MB': {
    file: () => pngWith(pngChunk('iCCP', Buffer.concat([latin1('p\0\0'), bomb]))),
    ends: READ,
  },
  'a PNG with 100,000 comments': {
    file: () => pngWith(...Array.from({ length: 100_000 }, (_, index) => pngChunk('tEXt', latin1(`${index}\0v`)))),
    ends: READ,
  },
  'a JPEG with a colour profile of 16 MB of nonsense': {
    file: () => jpegWith(...iccSegments(Buffer.alloc(16_000_000, 1))),
    ends: READ,
    megabytes: 200,
  },
  'a JPEG with a colour profile of two billion tags': {
    file: () => jpegWith(...iccSegments(endlessProfile())),
    ends: READ,
  },
  'a JPEG with EXIF that leads back to itself and claims gigabytes': {
    file: () => jpegWith(exifSegment(exifBomb())),
    ends: READ,
  },
  'a JPEG with 150 segments of EXIF': {
    file: () => jpegWith(...Array(150).fill(exifSegment(Buffer.alloc(65_000, 1)))),
    ends: READ,
    megabytes: 128,
  },
  'a JPEG with 10 MB of comments': {
    file: () => jpegWith(...Array(150).fill(jpegSegment(0xfe, Buffer.alloc(65_000, 65)))),
    ends: READ,
  },
  'a progressive JPEG of 883 scans over 50 megapixels': {
    file: () => jpegOfManyScans(8_000, 6_250, 883),
    ends: /progressive JPEG of too many scans. Save it again as a plain JPEG/,
  },
  'an animated WebP of 2,000 frames': { file: () => animation(2_000), ends: READ },

  // Damage.
  'a PNG without data': {
    file: () => Buffer.concat([...pngStart({ width: 60, height: 40 }), pngChunk('IEND', Buffer.of())]),
    ends: DAMAGED,
  },
  'a PNG with half its rows': {
    file: () => png({ width: 60, height: 40, colourType: 0 }, greyRows(60, 20)),
    ends: DAMAGED,
  },
  'a PNG with a wrong checksum': {
    file: () => {
      const file = png({ width: 60, height: 40, colourType: 0 }, greyRows(60, 40));
      file.writeUInt8(file.readUInt8(file.length - 13) ^ 0xff, file.length - 13);
      return file;
    },
    ends: DAMAGED,
  },
  'a truncated JPEG': { file: () => plainJpeg.subarray(0, plainJpeg.length * 0.6), ends: DAMAGED },
  'a truncated PNG': { file: () => plainPng.subarray(0, plainPng.length / 2), ends: DAMAGED },
  'a truncated WebP': { file: () => plainWebp.subarray(0, plainWebp.length - 20), ends: DAMAGED },
  'a truncated AVIF': { file: () => plainAvif.subarray(0, plainAvif.length - 20), ends: DAMAGED },
  'an empty file': { file: () => Buffer.of(), ends: NO_PICTURE },
};

let onnx: OnnxBackend;
let stored: Uint8Array;
let pid: number;

beforeAll(async () => {
  onnx = await createTinyBackend({
    store: { get: async () => stored },
    workingMemoryBytes: 1_024 * MEGABYTE,
    logger: recordingLog().log,
  });
  pid = onnx.pids[0] ?? 0;
  stored = plainPng;
  await infer();
});
afterAll(() => onnx.close());

const infer = () => onnx.infer(tinyRequest(), { signal: new AbortController().signal });

test.each(Object.entries(cases))('%s is read or refused within bounds', async (_, { file, ends, megabytes = 64 }) => {
  stored = await file();
  const memory = await watchMemory();
  const outcome = await infer();
  if (typeof ends === 'number') {
    expect(outcome).toMatchObject({ status: 'succeeded', result: { sum: ends + 1 } });
  } else {
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      chargedCredits: 0,
      error: { code: 'input_unreadable', message: expect.stringMatching(ends) },
    });
  }
  expect(await memory.grownMegabytes()).toBeLessThan(megabytes);
  expect(onnx.pids).toEqual([pid]);
});

/** Growth of the child process's memory from now on; 0 where the system does not report it. */
async function watchMemory(): Promise<{ grownMegabytes(): Promise<number> }> {
  if (process.platform !== 'linux') return { grownMegabytes: async () => 0 };
  const read = async (name: string) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  };
  // Forgets the peak so far.
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await read('VmRSS');
  return { grownMegabytes: async () => (await read('VmHWM')) - before };
}

/** The size in the header of the frame, replaced. */
function withWebpSize(width: number, height: number): Buffer {
  const file = Buffer.from(plainWebp);
  const startCode = file.indexOf(Buffer.from('9d012a', 'hex'));
  file.writeUInt16LE(width, startCode + 3);
  file.writeUInt16LE(height, startCode + 5);
  return file;
}

/** The size in the box that states it, replaced. */
function withAvifSize(width: number, height: number): Buffer {
  const file = Buffer.from(plainAvif);
  const extents = file.indexOf('ispe', 0, 'latin1');
  file.writeUInt32BE(width, extents + 8);
  file.writeUInt32BE(height, extents + 12);
  return file;
}

/** A header of a profile, and a count of tags that no file could hold. */
function endlessProfile(): Buffer {
  const profile = Buffer.alloc(132);
  profile.writeUInt32BE(0xffffffff, 0);
  profile.writeUInt32BE(0x02000000, 8);
  profile.write('mntrRGB XYZ ', 12, 'latin1');
  profile.write('acsp', 36, 'latin1');
  profile.writeUInt32BE(0x7fffffff, 128);
  return profile;
}

/** Frames that each cover the canvas. */
function animation(frames: number): Buffer {
  const place = Buffer.alloc(16);
  place.writeUIntLE(60 - 1, 6, 3);
  place.writeUIntLE(40 - 1, 9, 3);
  place.writeUIntLE(100, 12, 3);
  const frame = webpChunk('ANMF', Buffer.concat([place, plainWebp.subarray(12)]));
  return webp(webpCanvas(60, 40, 0x02), webpChunk('ANIM', Buffer.alloc(6)), ...Array(frames).fill(frame));
}

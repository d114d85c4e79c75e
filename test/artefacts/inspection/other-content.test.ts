/**
 * Anything inserted between the parts of a file or after its end is found: bytes, and parts that show nothing.
 * The files are cut here by rules of their own.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { jpegSegment, pngChunk, webp, webpChunk } from '../../inference/support/crafted-files.ts';
import { box } from './boxes.ts';
import { faultOf } from './fault-of.ts';

/** Behind the start of the file: each part, to be put together again. */
type Cut = (file: Buffer) => { start: Buffer; parts: Buffer[] };

interface Format {
  mediaType: string;
  files: () => Promise<Buffer[]>;
  cut: Cut;
  /** Puts parts together as a file whose stated lengths are right. */
  join: (start: Buffer, parts: readonly Buffer[]) => Buffer;
  /** A part of a kind that no picture or film has. */
  strange: fc.Arbitrary<Buffer>;
}

const picture = sharp({ create: { width: 24, height: 16, channels: 4, background: '#3366cc80' } });
const content = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes));
const nameOf = (letters: string, length: number, known: readonly string[]) =>
  fc
    .array(fc.constantFrom(...letters.split('')), { minLength: length, maxLength: length })
    .map((name) => name.join(''))
    .filter((name) => !known.includes(name));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const isData = (behindFf: number) => behindFf === 0 || (behindFf >= 0xd0 && behindFf <= 0xd7);

/** Each segment; a scan with its data. */
function cutJpeg(file: Buffer) {
  const parts: Buffer[] = [];
  for (let at = 2; at < file.length; ) {
    let end = at + 2 + (file[at + 1] === 0xd9 ? 0 : file.readUInt16BE(at + 2));
    if (file[at + 1] === 0xda) while (file[end] !== 0xff || isData(file[end + 1] ?? 0)) end += 1;
    parts.push(file.subarray(at, end));
    at = end;
  }
  return { start: file.subarray(0, 2), parts };
}

function cutByLength(startBytes: number, lengthOf: (file: Buffer, at: number) => number): Cut {
  return (file) => {
    const parts: Buffer[] = [];
    for (let at = startBytes; at < file.length; at += parts.at(-1)?.length ?? 0) {
      parts.push(file.subarray(at, at + lengthOf(file, at)));
    }
    return { start: file.subarray(0, startBytes), parts };
  };
}

const formats: Record<string, Format> = {
  JPEG: {
    mediaType: 'image/jpeg',
    files: () => Promise.all([{}, { progressive: true }].map((options) => picture.clone().jpeg(options).toBuffer())),
    cut: cutJpeg,
    join: (start, parts) => Buffer.concat([start, ...parts]),
    strange: fc
      .integer({ min: 0x02, max: 0xfe })
      // A restart is of the data of a scan.
      .filter((marker) => marker < 0xd0 || marker > 0xd7)
      .filter((marker) => ![0xc0, 0xc1, 0xc2, 0xc4, 0xdb, 0xdd, 0xda, 0xd9].includes(marker))
      .chain((marker) => content.map((bytes) => jpegSegment(marker, bytes))),
  },
  PNG: {
    mediaType: 'image/png',
    files: () => Promise.all([{}, { palette: true }].map((options) => picture.clone().png(options).toBuffer())),
    cut: cutByLength(8, (file, at) => 12 + file.readUInt32BE(at)),
    join: (start, parts) => Buffer.concat([start, ...parts]),
    strange: nameOf(LETTERS, 4, ['IDAT', 'PLTE', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'cICP', 'pHYs', 'sBIT', 'bKGD']).chain(
      (type) => content.map((bytes) => pngChunk(type, bytes)),
    ),
  },
  WebP: {
    mediaType: 'image/webp',
    files: () => Promise.all([{}, { lossless: true }].map((options) => picture.clone().webp(options).toBuffer())),
    cut: cutByLength(12, (file, at) => 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2)),
    join: (_start, parts) => webp(...parts),
    strange: nameOf(`${LETTERS} 8`, 4, []).chain((type) => content.map((bytes) => webpChunk(type, bytes))),
  },
  MP4: {
    mediaType: 'video/mp4',
    files: async () => [
      readFileSync(new URL('../../../src/endpoints/render.video/fixtures/walk-around-1-1.mp4', import.meta.url)),
    ],
    cut: cutByLength(0, (file, at) => file.readUInt32BE(at)),
    join: (start, parts) => Buffer.concat([start, ...parts]),
    strange: nameOf(LETTERS, 4, ['mdat', 'free', 'skip', 'styp', 'sidx', 'moof', 'mfra']).chain((type) =>
      content.map((bytes) => box(type, bytes)),
    ),
  },
};

describe.each(Object.entries(formats))('a %s file', (name, { mediaType, files, cut, join, strange }) => {
  let cuts: ReturnType<Cut>[];
  beforeAll(async () => {
    cuts = (await files()).map(cut);
  });

  /** Puts bytes before one of the parts, or behind the last. */
  const withBytes = (inserted: Buffer, where: number, which: number, put = join) => {
    const { start, parts } = cuts[which % cuts.length] as ReturnType<Cut>;
    const place = where % (parts.length + 1);
    return put(start, parts.toSpliced(place, 0, inserted));
  };
  const place = fc.nat({ max: 1_000 });
  // The data of a scan ends with the next marker, and is not decoded: what stands there is of the data.
  const isBehindScan = (where: number, which: number) => {
    const { parts } = cuts[which % cuts.length] as ReturnType<Cut>;
    return name === 'JPEG' && parts[(where % (parts.length + 1)) - 1]?.[1] === 0xda;
  };
  // Any number of bytes ff may stand before a marker, and any number of tables: also an empty one, of four bytes.
  const isFillOrTable = (bytes: Buffer) =>
    name === 'JPEG' && bytes[0] === 0xff && [undefined, 0xc4, 0xdb, 0xdd].includes(bytes.find((byte) => byte !== 0xff));

  test('the inspection accepts what the encoder wrote', () => {
    for (const { start, parts } of cuts) {
      expect(parts.length).toBeGreaterThan(0);
      expect(faultOf(join(start, parts), mediaType)).toBeNull();
    }
  });

  test('the inspection finds inserted bytes anywhere', () => {
    const joins = [join, (start: Buffer, parts: readonly Buffer[]) => Buffer.concat([start, ...parts])];
    fc.assert(
      fc.property(content, place, place, fc.constantFrom(...joins), (bytes, where, which, put) => {
        fc.pre(!isBehindScan(where, which) && !isFillOrTable(bytes));
        expect(faultOf(withBytes(bytes, where, which, put), mediaType)).not.toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test('the inspection finds an inserted part of another kind anywhere', () => {
    fc.assert(
      fc.property(strange, place, place, (part, where, which) => {
        expect(faultOf(withBytes(part, where, which), mediaType)).not.toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test('the inspection finds a truncation anywhere', () => {
    for (const { start, parts } of cuts) {
      const file = join(start, parts);
      for (let end = 0; end < file.length; end += end < 1_000 ? 1 : 97) {
        expect(faultOf(file.subarray(0, end), mediaType)).not.toBeNull();
      }
    }
  });

  test('the inspection returns a size or throws a FileFault, whatever the bytes', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(changes, place, fc.nat(), (changed, which, end) => {
        const { start, parts } = cuts[which % cuts.length] as ReturnType<Cut>;
        const file = Buffer.from(join(start, parts));
        // Most at its start, where more is said.
        for (const [at, byte] of changed) file[at % (at % 3 === 0 ? file.length : 200)] = byte;
        expect(() => faultOf(end % 2 === 0 ? file : file.subarray(0, end % file.length), mediaType)).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Forbidden and missing parts of a file, by format, and the message for each. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import {
  exifOf,
  exifSegment,
  iccSegments,
  jpegSegment,
  MARKER,
  plainPictures,
  pngChunk,
  webp,
  webpCanvas,
  webpChunk,
  withJpegSegments,
  withJpegSize,
  withPngChunks,
} from '../../inference/support/crafted-files.ts';
import { box } from './boxes.ts';
import { faultOf } from './fault-of.ts';

const { plain, plainJpeg, plainPng, plainWebp } = await plainPictures(24, 16);
const film = readFileSync(new URL('../../../src/endpoints/render.video/fixtures/walk-around-1-1.mp4', import.meta.url));
const report = readFileSync(new URL('../../../src/endpoints/inspections/fixtures/report.pdf', import.meta.url));

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const END = 'The file has bytes after its end.';

describe('a JPEG file', () => {
  const fault = (file: Buffer) => faultOf(file, 'image/jpeg');
  const jfif = (...thumbnail: number[]) =>
    Buffer.concat([latin1('JFIF\0\x01\x01\0\0\x01\0\x01'), Buffer.of(...thumbnail)]);
  const adobe = (transform: number) => Buffer.concat([latin1('Adobe\0d\0\0\0\0'), Buffer.of(transform)]);
  const withGps = withJpegSegments(plainJpeg, [exifSegment(exifOf(6))]);

  test.each([
    { what: 'text as a JFIF', segments: [jpegSegment(0xe0, latin1('GPS 50.1 8.2E'))], named: 'APP0' },
    {
      what: 'a JFIF with text behind',
      segments: [jpegSegment(0xe0, Buffer.concat([jfif(0, 0), latin1('N')]))],
      named: 'APP0',
    },
    { what: 'a JFIF with a thumbnail', segments: [jpegSegment(0xe0, jfif(1, 1, 7, 7, 7))], named: 'APP0' },
    { what: 'a thumbnail of JFXX', segments: [jpegSegment(0xe0, latin1('JFXX\0\x13\x01\x01abc'))], named: 'APP0' },
    { what: 'a second JFIF', segments: [jpegSegment(0xe0, jfif(0, 0)), jpegSegment(0xe0, jfif(0, 0))], named: 'APP0' },
    { what: 'pictures behind', segments: [jpegSegment(0xe2, latin1('MPF\0GPS 50N'))], named: 'APP2' },
    { what: 'text as a profile', segments: [jpegSegment(0xe2, latin1('ICC_PROFILE\0\x01\x01GPS 50N'))], named: 'APP2' },
    { what: 'a profile', segments: iccSegments(Buffer.alloc(128)), named: 'colour profile' },
    { what: 'EXIF', segments: [exifSegment(exifOf(6))], named: 'APP1' },
    { what: 'IPTC', segments: [jpegSegment(0xed, latin1('Photoshop 3.0\0'))], named: 'APP13' },
    { what: 'a comment', segments: [jpegSegment(0xfe, latin1(MARKER))], named: 'comment' },
    { what: 'text as of Adobe', segments: [jpegSegment(0xee, latin1('AdobeGPS 50N'))], named: 'APP14' },
    { what: 'text in a table', segments: [jpegSegment(0xdb, latin1(MARKER))], named: 'db' },
    { what: 'text in an interval', segments: [jpegSegment(0xdd, latin1(MARKER))], named: 'dd' },
    { what: 'a number of lines', segments: [jpegSegment(0xdc, Buffer.of(0, 16))], named: 'dc' },
    { what: 'a segment that no decoder knows', segments: [jpegSegment(0xf4, latin1(MARKER))], named: 'f4' },
    { what: 'the start of another picture', segments: [withGps], named: 'd8' },
  ])('a JPEG file is refused with $what', async ({ segments, named }) => {
    expect(fault(withJpegSegments(plainJpeg, segments))).toContain(named);
    const progressive = await plain.clone().jpeg({ progressive: true }).toBuffer();
    const lastScan = progressive.lastIndexOf(Buffer.of(0xff, 0xda));
    const between = Buffer.concat([progressive.subarray(0, lastScan), ...segments, progressive.subarray(lastScan)]);
    expect(fault(between)).toContain(named);
  });

  test('a JPEG file is accepted with JFIF and Adobe colour transform', () => {
    const segments = [jpegSegment(0xe0, jfif(0, 0)), jpegSegment(0xee, adobe(1))];
    expect(fault(withJpegSegments(plainJpeg, segments))).toBeNull();
  });

  test.each([
    { what: 'another', behind: withGps },
    { what: 'text', behind: latin1('GPS 50N') },
    { what: 'one byte', behind: Buffer.of(0) },
  ])('a JPEG file is refused with $what after its end', ({ behind }) => {
    expect(fault(Buffer.concat([plainJpeg, behind]))).toBe(END);
  });

  test('a JPEG file is accepted with stuffed bytes, restarts and fill bytes, and refused when truncated', () => {
    const start = plainJpeg.subarray(0, -2);
    const inScan = Buffer.of(0xff, 0x00, 0xff, 0xd0, 0x12, 0xff, 0xd7, 0x34);
    const end = Buffer.of(0xff, 0xff, 0xff, 0xd9);
    expect(fault(Buffer.concat([start, inScan, end]))).toBeNull();
    for (const brokenOff of [start, Buffer.concat([start, inScan]), Buffer.concat([start, Buffer.of(0xff)])]) {
      expect(fault(brokenOff)).toBe('The file is truncated.');
    }
  });

  test('a JPEG file is refused without lines, or without a picture', () => {
    expect(fault(withJpegSize(plainJpeg, 24, 0))).toContain('c0');
    expect(fault(Buffer.from('ffd8ffd9', 'hex'))).toBe('The file contains no picture.');
  });

  test('a JPEG file is refused with more parts than any encoder writes', () => {
    const intervals = Buffer.concat(Array.from({ length: 30_000 }, () => jpegSegment(0xdd, Buffer.of(0, 0))));
    expect(fault(withJpegSegments(plainJpeg, [intervals]))).toBe('The file has too many parts.');
  });
});

describe('a PNG file', () => {
  const fault = (file: Buffer) => faultOf(file, 'image/png');
  const chunk = (type: string, text: string) => pngChunk(type, latin1(text));

  test.each([
    { what: 'text', chunks: [chunk('tEXt', `Author\0${MARKER}`)], named: 'tEXt' },
    { what: 'EXIF', chunks: [pngChunk('eXIf', exifOf(6))], named: 'eXIf' },
    { what: 'a time', chunks: [pngChunk('tIME', Buffer.alloc(7))], named: 'tIME' },
    { what: 'a profile', chunks: [chunk('iCCP', 'sRGB\0\0')], named: 'colour profile' },
    { what: 'a chunk of nobody', chunks: [chunk('prVt', 'GPS 50N')], named: 'prVt' },
    { what: 'text in its density', chunks: [chunk('pHYs', 'GPS 50.1 8')], named: 'pHYs' },
    { what: 'text in its palette', chunks: [chunk('PLTE', 'GPS 50N')], named: 'PLTE' },
    { what: 'text as its opacity', chunks: [chunk('tRNS', 'GPS 50N')], named: 'tRNS' },
    {
      what: 'a second density',
      chunks: [pngChunk('pHYs', Buffer.alloc(9)), pngChunk('pHYs', Buffer.alloc(9))],
      named: 'pHYs',
    },
  ])('a PNG file is refused with $what', ({ chunks, named }) => {
    expect(fault(withPngChunks(plainPng, chunks))).toContain(named);
  });

  test('a PNG file is accepted with gamma and sRGB chunks', () => {
    const chunks = [pngChunk('sRGB', Buffer.of(0)), pngChunk('gAMA', Buffer.alloc(4))];
    expect(fault(withPngChunks(plainPng, chunks))).toBeNull();
  });

  test('a PNG file is refused with a wrong checksum', () => {
    const file = Buffer.concat([plainPng.subarray(0, -4), latin1('50N8')]);
    expect(fault(file)).toBe('The file has a damaged chunk IEND.');
  });

  test('a PNG file is refused with anything after its pixels or its end', () => {
    const [pixels, end] = [plainPng.subarray(0, -12), plainPng.subarray(-12)];
    expect(fault(Buffer.concat([pixels, pngChunk('pHYs', Buffer.alloc(9)), end]))).toContain('pHYs');
    expect(fault(Buffer.concat([pixels, chunk('IEND', MARKER)]))).toContain('IEND');
    for (const behind of [latin1('G'), chunk('tEXt', MARKER), plainPng]) {
      expect(fault(Buffer.concat([plainPng, behind]))).toBe(END);
    }
    expect(fault(pixels)).toBe('The file is truncated.');
  });
});

describe('a WebP file', () => {
  const fault = (file: Buffer) => faultOf(file, 'image/webp');
  const pixels = plainWebp.subarray(12);

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 100])('a WebP file is refused with %i bytes after its end', (length) => {
    const behind = Buffer.alloc(length, 'GPS 50N');
    expect(fault(Buffer.concat([plainWebp, behind]))).toBe(END);
    // Or so that they seem to be of it.
    expect(fault(webp(pixels, behind))).toMatch(/is truncated|after|contains a chunk/);
  });

  test.each([
    { what: 'EXIF', chunks: [webpCanvas(24, 16, 0), pixels, webpChunk('EXIF', exifOf(6))], named: 'chunk EXIF' },
    { what: 'the announcement of EXIF', chunks: [webpCanvas(24, 16, 0x08), pixels], named: 'EXIF' },
    { what: 'a profile', chunks: [webpCanvas(24, 16, 0), webpChunk('ICCP', Buffer.alloc(128)), pixels], named: 'ICCP' },
    {
      what: 'a chunk of nobody',
      chunks: [webpCanvas(24, 16, 0), pixels, webpChunk('GPS ', latin1('50'))],
      named: 'GPS ',
    },
    { what: 'a second picture', chunks: [pixels, pixels], named: 'VP8 ' },
    { what: 'two sizes', chunks: [webpCanvas(24, 17, 0), pixels], named: 'two sizes' },
    { what: 'no picture', chunks: [], named: 'no picture' },
    { what: 'text as its picture', chunks: [webpChunk('VP8L', latin1('GPS 50.1 8.2E'))], named: 'VP8L' },
    {
      what: 'text for padding',
      chunks: [
        webpCanvas(24, 16, 0x10),
        Buffer.concat([webpChunk('ALPH', Buffer.of(0)).subarray(0, -1), latin1('N')]),
        pixels,
      ],
      named: 'nonzero padding after the chunk ALPH',
    },
  ])('a WebP file is refused with $what', ({ chunks, named }) => {
    expect(fault(webp(...chunks))).toContain(named);
  });

  test('a WebP file is refused when a frame of its animation contains anything else', async () => {
    const frames = await Promise.all(
      ['#cc0000', '#00cc00'].map((background) =>
        sharp({ create: { width: 9, height: 5, channels: 4, background } })
          .png()
          .toBuffer(),
      ),
    );
    const moving = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer();
    const at = moving.indexOf('ANMF');
    const length = moving.readUInt32LE(at + 4);
    const [before, frame, after] = [
      moving.subarray(12, at),
      moving.subarray(at + 8, at + 8 + length),
      moving.subarray(at + 8 + length),
    ];
    expect(fault(webp(before, webpChunk('ANMF', frame), after))).toBeNull();
    const withText = Buffer.concat([frame, webpChunk('EXIF', exifOf(6))]);
    expect(fault(webp(before, webpChunk('ANMF', withText), after))).toContain('EXIF');
    expect(fault(webp(before, webpChunk('ANMF', frame), webpChunk('XMP ', latin1(MARKER)), after))).toContain('XMP');
  });
});

describe('a film', () => {
  const fault = (file: Buffer) => faultOf(file, 'video/mp4');
  const boxes = (bytes: Buffer) => {
    const found: { type: string; content: Buffer }[] = [];
    for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
      const end = at + bytes.readUInt32BE(at);
      found.push({ type: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + 8, end) });
    }
    return found;
  };
  /** The film with the content of one box changed; the path names it. */
  const changed = (bytes: Buffer, [type, ...rest]: string[], change: (content: Buffer) => Buffer): Buffer =>
    Buffer.concat(
      boxes(bytes).map((each) => {
        const isIt = each.type === type;
        const content = isIt && rest.length > 0 ? changed(each.content, rest, change) : each.content;
        return box(each.type, isIt && rest.length === 0 ? change(content) : content);
      }),
    );
  const replaced = (from: string, to: string) => (content: Buffer) =>
    latin1(content.toString('latin1').replace(from, to));
  const place = box('udta', box('\xa9xyz', latin1('\0\x12\x15\xc7+52.5200+013.4100/')));

  test.each([
    { what: 'a position', path: ['moov', 'udta'], change: () => place.subarray(8), named: '"\xa9xyz" in "udta"' },
    {
      what: 'a second set of words',
      path: ['moov'],
      change: (moov: Buffer) => Buffer.concat([moov, place]),
      named: '"udta" in "moov"',
    },
    {
      what: 'an XMP',
      path: ['moov', 'trak'],
      change: (trak: Buffer) => Buffer.concat([trak, box('uuid', latin1(MARKER))]),
      named: '"uuid"',
    },
    { what: 'words in its free space', path: ['free'], change: () => latin1('GPS 50N'), named: '"free"' },
    {
      what: 'words behind a table',
      path: ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stts'],
      change: (table: Buffer) => Buffer.concat([table, latin1('50N')]),
      named: '"stts"',
    },
    {
      what: 'words behind a header',
      path: ['moov', 'mvhd'],
      change: (header: Buffer) => Buffer.concat([header, latin1('50N')]),
      named: '"mvhd"',
    },
    {
      what: 'a long name',
      path: ['moov', 'trak', 'mdia', 'hdlr'],
      change: (hdlr: Buffer) => Buffer.concat([hdlr, Buffer.alloc(100, 'x')]),
      named: '"hdlr"',
    },
    {
      what: 'its media elsewhere',
      path: ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'],
      change: () => latin1('\0\0\0\0\0\0\0\x01\0\0\0\x10url \0\0\0\0http'),
      named: '"dref"',
    },
    {
      what: 'a track of positions',
      path: ['moov', 'trak', 'mdia', 'hdlr'],
      change: replaced('vide', 'meta'),
      named: 'track of "meta"',
    },
    {
      what: 'a profile',
      path: ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'],
      change: replaced('\0\0\0\x10pasp\0\0\0\x01\0\0\0\x01', '\0\0\0\x10colrprofabcd'),
      named: '"colr"',
    },
    {
      what: 'a second track of pictures',
      path: ['moov'],
      change: (moov: Buffer) =>
        Buffer.concat([
          moov,
          ...boxes(moov)
            .filter(({ type }) => type === 'trak')
            .map(({ content }) => box('trak', content)),
        ]),
      named: '2 tracks of pictures',
    },
  ])('a film is refused with $what', ({ path, change, named }) => {
    expect(fault(changed(film, path, (content) => content))).toBeNull();
    expect(fault(changed(film, path, change))).toContain(named);
  });

  test('a film is refused with bytes after its end, or only its first box', () => {
    for (const behind of [latin1('G'), latin1('GPS 50N '), Buffer.alloc(40)]) {
      expect(fault(Buffer.concat([film, behind]))).toMatch(/is truncated|contains/);
    }
    const start = film.subarray(0, film.readUInt32BE());
    expect(fault(start)).toBe('The file contains no film.');
    expect(fault(Buffer.concat([start, Buffer.alloc(40)]))).toBe('The file is truncated.');
  });

  test('a film is refused when truncated', () => {
    expect(fault(film.subarray(0, -1))).toBe('The file is truncated.');
  });

  test('a film that is displayed rotated by 90 degrees has its displayed sides', () => {
    const example = readFileSync(
      new URL('../../../src/endpoints/render.video/fixtures/walk-around-16-9.mp4', import.meta.url),
    );
    const turned = changed(example, ['moov', 'trak', 'tkhd'], (header) => {
      const matrix = [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000];
      const copy = Buffer.from(header);
      for (const [index, value] of matrix.entries()) copy.writeInt32BE(value, 40 + 4 * index);
      return copy;
    });
    expect(inspectArtefact(example, 'video/mp4')).toEqual({ width: 480, height: 270 });
    expect(inspectArtefact(turned, 'video/mp4')).toEqual({ width: 270, height: 480 });
  });

  test('a film is accepted whatever its media data spells: that is not inspected', () => {
    expect(fault(changed(film, ['mdat'], (media) => Buffer.concat([media, latin1('\xa9xyz')])))).toBeNull();
  });
});

describe('a document', () => {
  const pdfFault = (file: Buffer) => faultOf(file, 'application/pdf');
  const jsonFault = (text: string | Buffer) => faultOf(Buffer.from(text), 'application/json');

  test('a document is refused when only its start is a PDF', () => {
    for (const file of [latin1('%PDF-1.4 junk'), latin1('%PDF-1.4\n%%EOF'), report.subarray(0, -8)]) {
      expect(pdfFault(file)).toBe('The file is not a PDF from "%PDF-" to "%%EOF".');
    }
    expect(pdfFault(Buffer.concat([report, latin1('GPS 50N')]))).toContain('not a PDF');
    expect(pdfFault(latin1('%PDF-1.4\njunk\nstartxref\n9\n%%EOF\n'))).toContain('no object table');
  });

  test('a document is refused when it is a PDF with EXIF in an embedded picture', () => {
    const photo = withJpegSegments(plainJpeg, [exifSegment(exifOf(6))]);
    const file = Buffer.concat([latin1('%PDF-1.7\nstream\n'), photo, report.subarray(9)]);
    expect(pdfFault(file)).toBe('The file contains Exif.');
  });

  test.each(['{', '', 'NaN', '{} {}', "{'a': 1}", '\ufeff{}', Buffer.of(0x22, 0xe9, 0x22)])(
    '%j is refused as JSON',
    (text) => {
      expect(jsonFault(text)).toBe('The file is not JSON in UTF-8.');
    },
  );
});

test('a file of another type than stated is refused', () => {
  for (const [file, mediaType] of [
    [plainPng, 'image/jpeg'],
    [plainJpeg, 'image/png'],
    [plainPng, 'image/webp'],
    [plainPng, 'video/mp4'],
    [Buffer.of(), 'image/png'],
    [plainPng, 'image/avif'],
  ] as const) {
    expect(faultOf(file, mediaType)).not.toBeNull();
  }
});

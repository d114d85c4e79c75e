/** Reads the PDFs that the service writes. */
import { inflateSync } from 'node:zlib';

/** The compressed streams, in the order of the file: drawings, tables of letters, fonts. */
export function streamsOf(pdf: Buffer): string[] {
  const streams = pdf.toString('latin1').matchAll(/\/FlateDecode\s*>>\s*stream\n([\s\S]*?)\nendstream/g);
  return Array.from(streams, ([, stream = '']) => inflateSync(Buffer.from(stream, 'latin1')).toString('latin1'));
}

/** A line for each piece of text. Only text in fonts of the reader: in an embedded font, codes are no letters. */
export function textOf(pdf: Buffer): string {
  const drawn = streamsOf(pdf)
    .join('\n')
    .matchAll(/\[(.*)\] TJ/g);
  return Array.from(drawn, ([, pieces = '']) => {
    const codes = pieces.match(/<[0-9a-f]+>/g)?.map((piece) => piece.slice(1, -1)) ?? [];
    return new TextDecoder('windows-1252').decode(Buffer.from(codes.join(''), 'hex'));
  }).join('\n');
}

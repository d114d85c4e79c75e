/** Writes a PDF of A4 pages with text in Helvetica, lines and JPEGs: ISO 32000-1, as much of it as a report takes. */

export const PAGE = { width: 595, height: 842 };

export interface Jpeg {
  /** Of 8-bit RGB. */
  jpeg: Uint8Array;
  /** In pixels. */
  width: number;
  height: number;
}

export type Font = 'plain' | 'bold';

/** A page that is drawn on. Places are in points, from the lower left corner. */
export interface Page {
  text(x: number, y: number, size: number, text: string, font?: Font): void;
  line(x0: number, x1: number, y: number): void;
  /** Fitted into the box, in its middle. */
  picture(picture: Jpeg, box: { x: number; y: number; width: number; height: number }): void;
}

const FONTS: Readonly<Record<Font, string>> = { plain: 'F1', bold: 'F2' };
const FIRST_PAGE_OBJECT = 5;

export function createPdf(): { addPage(): Page; finish(): Buffer } {
  const pages: { drawing: string[]; pictures: Jpeg[] }[] = [];
  return {
    addPage() {
      const drawing: string[] = [];
      const pictures: Jpeg[] = [];
      pages.push({ drawing, pictures });
      return {
        text: (x, y, size, text, font = 'plain') => {
          drawing.push(`BT /${FONTS[font]} ${size} Tf ${x} ${y} Td (${literal(text)}) Tj ET`);
        },
        line: (x0, x1, y) => {
          drawing.push(`0.75 G ${x0} ${y} m ${x1} ${y} l S`);
        },
        picture: (picture, { x, y, width, height }) => {
          const scale = Math.min(width / picture.width, height / picture.height);
          const [w, h] = [picture.width * scale, picture.height * scale];
          const [left, bottom] = [x + (width - w) / 2, y + (height - h) / 2];
          const numbers = [w, 0, 0, h, left, bottom].map((number) => Number(number.toFixed(2)));
          drawing.push(`q ${numbers.join(' ')} cm /I${pictures.length} Do Q`);
          pictures.push(picture);
        },
      };
    },
    finish: () => documentOf(pages),
  };
}

function documentOf(pages: readonly { drawing: readonly string[]; pictures: readonly Jpeg[] }[]): Buffer {
  const font = (name: string) => text(`<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`);
  const objects: Buffer[] = [];
  const kids: number[] = [];
  let next = FIRST_PAGE_OBJECT;
  for (const { drawing, pictures } of pages) {
    const [page, content] = [next, next + 1];
    const images = pictures.map((_, index) => `/I${index} ${content + 1 + index} 0 R`).join('');
    kids.push(page);
    objects.push(
      text(
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${PAGE.width} ${PAGE.height}]/Contents ${content} 0 R` +
          `/Resources<</Font<</F1 3 0 R/F2 4 0 R>>/XObject<<${images}>>>>>>`,
      ),
      stream('', text(drawing.join('\n'))),
      ...pictures.map(({ jpeg, width, height }) =>
        stream(
          `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8` +
            '/Filter/DCTDecode',
          jpeg,
        ),
      ),
    );
    next = content + 1 + pictures.length;
  }
  const references = kids.map((number) => `${number} 0 R`).join(' ');
  return fileOf([
    text('<</Type/Catalog/Pages 2 0 R>>'),
    text(`<</Type/Pages/Kids[${references}]/Count ${kids.length}>>`),
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...objects,
  ]);
}

/** The objects, numbered from 1, and the table of where each begins. */
function fileOf(objects: readonly Buffer[]): Buffer {
  const chunks = [text('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n')];
  let length = chunks[0]?.length ?? 0;
  const offsets = objects.map((object, index) => {
    const offset = length;
    const chunk = Buffer.concat([text(`${index + 1} 0 obj\n`), object, text('\nendobj\n')]);
    chunks.push(chunk);
    length += chunk.length;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const head = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const tail = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...chunks, text(head + tail)]);
}

function stream(dictionary: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([text(`<<${dictionary}/Length ${bytes.length}>>\nstream\n`), bytes, text('\nendstream')]);
}

function text(content: string): Buffer {
  return Buffer.from(content, 'latin1');
}

/** The fonts have the letters of Western Europe; any other is shown as a question mark. */
function literal(content: string): string {
  return content.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?').replaceAll(/[()\\]/g, String.raw`\$&`);
}

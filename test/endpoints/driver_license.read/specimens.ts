/** Specimens of licences, drawn for these tests: no person, no document of any issuer. */
import sharp from 'sharp';
import { decodeImage } from '../../../src/inference/toolkit/images/decode-image.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import { drawCode } from '../../inference/support/coded.ts';

/** A content of PDF417 (AAMVA DL/ID Card Design Standard, annex D), as the print of `drawAmericanFront` has it. */
export const CALIFORNIAN = [
  '@\n\u001e\rANSI 636014080001DL00310200DLDAQZ0000417',
  'DCSMARLOWE-TEST',
  'DDEN',
  'DACJORDAN',
  'DDFN',
  'DADALEX',
  'DDGN',
  'DCAC',
  'DCBNONE',
  'DCDNONE',
  'DBD02092016',
  'DBB02111985',
  'DBA02112021',
  'DBC1',
  'DAU070 IN',
  'DAYBRO',
  'DAG100 EXAMPLE STREET',
  'DAIANYTOWN',
  'DAJCA',
  'DAK900000000',
  'DCGUSA\r',
].join('\n');

type Written = readonly [x: number, y: number, text: string];

const [WIDTH, HEIGHT] = [1_200, 760];

async function drawCard(written: readonly Written[], code?: string): Promise<RgbImage> {
  const texts = written.map(
    ([x, y, text]) => `<text x="${x}" y="${y}" font-family="DejaVu Sans" font-size="34">${text}</text>`,
  );
  const card =
    `<svg width="${WIDTH}" height="${HEIGHT}"><rect width="100%" height="100%" fill="#8a8f94"/>` +
    `<rect x="30" y="30" width="1140" height="700" rx="30" fill="#f2ede6"/>${texts.join('')}</svg>`;
  const overlays = code === undefined ? [] : [{ input: await drawCode('PDF417', code, 3), left: 120, top: 300 }];
  return decodeImage(await sharp(Buffer.from(card)).composite(overlays).flatten().png().toBuffer());
}

export const drawAmericanFront = () =>
  drawCard([
    [90, 100, 'CALIFORNIA'],
    [500, 100, 'DRIVER LICENSE'],
    [420, 190, 'DL Z0000417'],
    [900, 190, 'CLASS C'],
    [420, 250, 'EXP 02/11/2021'],
    [420, 310, 'LN MARLOWE-TEST'],
    [420, 370, 'FN JORDAN ALEX'],
    [420, 430, '100 EXAMPLE STREET'],
    [420, 480, 'ANYTOWN, CA 90000'],
    [420, 550, 'DOB 02/11/1985'],
    [420, 610, 'SEX M'],
    [760, 690, 'ISS 02/09/2016'],
  ]);

export const drawAmericanBack = () => drawCard([[90, 100, 'CLASS: C - ANY 2 AXLE VEHICLE']], CALIFORNIAN);

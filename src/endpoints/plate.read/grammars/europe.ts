/**
 * Registration numbers of cars in Europe. Sources: Wikipedia, "Vehicle registration plates of …" and "European vehicle
 * registration plates", read with the national rules that they cite; those of single countries are named below.
 */
import {
  AUSTRIA,
  BULGARIA,
  CROATIA,
  GERMANY,
  IRISH_COUNTIES,
  POLAND,
  POLISH_VOIVODESHIPS,
  ROMANIA,
  SLOVAKIA,
  SLOVENIA,
  SPAIN_UNTIL_2000,
  SWITZERLAND,
} from './district-codes.ts';
import type { CountryGrammar } from './grammar.ts';

const WITHOUT_VOWELS = 'BCDFGHJKLMNPRSTVWXYZ';
/** Letters of the Cyrillic and Latin alphabets with the same shape (Vienna Convention on Road Traffic, annex 2). */
const CYRILLIC_AND_LATIN = 'ABCEHKMOPTXY';
const GREEK_AND_LATIN = 'ABEHIKMNOPTXYZ';

const polishRegion = (code: string): string | null => {
  const voivodeship = POLISH_VOIVODESHIPS[code.charAt(0)];
  return voivodeship ? `PL-${voivodeship}` : null;
};

const POLISH_SERIAL = 'ACEFGHJKLMNPRSTUVWXY';
/** Year, county, number. Since 2013 the year has a third digit for its half. */
const IRELAND: readonly CountryGrammar[] = Object.entries(IRISH_COUNTIES).map(([code, county]) => {
  const written = Array.from(code, (letter) => `[${letter}]`).join('');
  const formats = [`DD ${written} D{3,6}`, `DD[12] ${written} D{2,5}`];
  return { country: 'IE', region: `IE-${county}`, formats, needs: 'separators' };
});

export const EUROPE: readonly CountryGrammar[] = [
  {
    country: 'AT',
    codes: AUSTRIA.filter((code) => code.length === 1),
    formats: ['C DDDDD L', 'C DDDD LL', 'C DDD LL', 'C DDD LLL', 'C DD LLL'],
  },
  { country: 'AT', codes: AUSTRIA.filter((code) => code.length === 2), formats: ['C DDD LL', 'C DD LLL'] },
  // The index of the series since 2010 is 1 or 2. Older plates have three letters and three digits.
  { country: 'BE', formats: ['[12] LLL DDD', 'LLL DDD', 'DDD LLL'] },
  { country: 'BG', letters: CYRILLIC_AND_LATIN, codes: BULGARIA, formats: ['C DDDD LL'] },
  { country: 'CH', codes: SWITZERLAND, regionOf: (code) => `CH-${code}`, formats: ['C D{4,6}'], needs: 'separator' },
  { country: 'CY', formats: ['LLL DDD'] },
  // Vyhláška č. 343/2014 Sb.: never G, O, Q, W after the region's letter; until 2001 two or three letters and four digits.
  { country: 'CZ', letters: 'ABCDEFHIJKLMNPRSTUVXYZ', formats: ['DLD DDDD', 'DLL DDDD'] },
  { country: 'CZ', formats: ['LLL DD DD', 'LL DD DD'] },
  // § 9 FZV: eight characters at most, with H or E at the end; the number begins with 1 to 9. Seals stand after the code.
  {
    country: 'DE',
    codes: GERMANY,
    formats: [
      'C L{1,2} [123456789]',
      'C L{1,2} [123456789]D',
      'C L{1,2} [123456789]DD',
      'C L{1,2} [123456789]DDD',
    ].flatMap((format) => [format, `${format}[EH]`]),
    needs: 'separator',
  },
  { country: 'DK', letters: 'ABCDEFGHJKLMNPRSTUVWXYZ', formats: ['LL DD DDD'] },
  { country: 'EE', formats: ['DDD LLL'] },
  // Real Decreto 2822/1998, annex XVIII: neither vowels nor Ñ and Q.
  { country: 'ES', letters: WITHOUT_VOWELS, formats: ['DDDD LLL'] },
  {
    country: 'ES',
    letters: 'ABCDEFGHIJKLMNPSTUVWXYZ',
    codes: SPAIN_UNTIL_2000,
    formats: ['C DDDD L{1,2}'],
    needs: 'separator',
  },
  { country: 'FI', formats: ['LLL DDD'] },
  { country: 'FI', formats: ['LLL DD', 'LL DDD'], needs: 'origin' },
  // Arrêté du 9 février 2009: neither I, O nor U; the series began with AA and has reached H. Before, the department's number
  // stood at the end.
  { country: 'FR', letters: 'ABCDEFGHJKLMNPQRSTVWXYZ', formats: ['[ABCDEFGH]L DDD LL'] },
  {
    country: 'FR',
    letters: 'ABCDEFGHJKLMNPQRSTVWXYZ',
    formats: ['D{2,4} LL DD', 'D{2,3} LLL DD'],
    needs: 'separators',
  },
  // Current style, since September 2001. Source: DVLA, INF104.
  { country: 'GB', letters: 'ABCDEFGHJKLMNOPRSTUVWXYZ', formats: ['LLDD LLL'] },
  { country: 'GB', letters: 'ABCDEFGHJKLMNOPRSTUVWXYZ', formats: ['LDDD LLL', 'LDD LLL', 'LLL DDDL', 'LLL DDL'] },
  { country: 'GR', letters: GREEK_AND_LATIN, formats: ['LLL DDDD'] },
  {
    country: 'HR',
    codes: CROATIA,
    letters: 'ABCDEFGHIJKLMNOPRSTUVZ',
    formats: ['C DDDD LL', 'C DDD LL', 'C DDDD L', 'C DDD L'],
  },
  // The series of four letters began with AA AA in 2022.
  { country: 'HU', formats: ['LLL DDD', '[A]L LL DDD'] },
  ...IRELAND,
  { country: 'IS', formats: ['LL LDD', 'LL DDD'], needs: 'origin' },
  // D.P.R. 495/1992, art. 255 ff.: neither I, O, Q nor U; the series began with AA in 1994 and has reached H.
  { country: 'IT', letters: 'ABCDEFGHJKLMNPRSTVWXYZ', formats: ['[ABCDEFGH]L DDDLL'] },
  { country: 'LT', formats: ['LLL DDD'] },
  { country: 'LU', formats: ['LL DDDD'], needs: 'separator' },
  { country: 'LV', formats: ['LL DDDD'], needs: 'separator' },
  { country: 'MT', formats: ['LLL DDD'] },
  // Sidecodes 1 to 14. The dashes are part of the plate. Source: RDW.
  {
    country: 'NL',
    letters: 'BDFGHJKLMNPRSTVWXYZ',
    formats: [
      'LL DD DD',
      'DD DD LL',
      'DD LL DD',
      'LL DD LL',
      'LL LL DD',
      'DD LL LL',
      'DD LLL D',
      'D LLL DD',
      'LL DDD L',
      'L DDD LL',
      'LLL DD L',
      'L DD LLL',
      'D LL DDD',
      'DDD LL D',
    ],
    needs: 'separators',
  },
  // Forskrift om bruk av kjøretøy, annex: neither I, M, O, Q nor W.
  { country: 'NO', letters: 'ABCDEFGHJKLNPRSTUVXYZ', formats: ['LL DDDDD'] },
  // Rozporządzenie Ministra Infrastruktury: B, D, I, O and Z are not used after the code.
  {
    country: 'PL',
    codes: POLAND.filter((code) => code.length === 2),
    letters: POLISH_SERIAL,
    regionOf: polishRegion,
    formats: ['C DDDDD', 'C DDDDL', 'C DDDLL', 'C DLDDD', 'C DLLDD'],
  },
  {
    country: 'PL',
    codes: POLAND.filter((code) => code.length === 3),
    letters: POLISH_SERIAL,
    regionOf: polishRegion,
    formats: ['C LDDD', 'C DDLL', 'C DLDD', 'C DDLD', 'C DDDL', 'C LLDD', 'C DDDDD', 'C DDDDL', 'C DDDLL'],
  },
  {
    country: 'PT',
    letters: 'ABCDEFGHIJLMNOPQRSTUVXZ',
    formats: ['LL DD DD', 'DD DD LL', 'DD LL DD', 'LL DD LL'],
    needs: 'separators',
  },
  {
    country: 'RO',
    codes: ROMANIA,
    letters: 'ABCDEFGHIJKLMNOPRSTUVWXYZ',
    regionOf: (code) => `RO-${code}`,
    formats: ['C DD LLL'],
  },
  { country: 'RO', codes: ['B'], letters: 'ABCDEFGHIJKLMNOPRSTUVWXYZ', regionOf: () => 'RO-B', formats: ['C DDD LLL'] },
  // Provisional and leased.
  { country: 'RO', codes: ROMANIA, regionOf: (code) => `RO-${code}`, formats: ['C [0]DDDDD'] },
  // Transportstyrelsen: neither I, Q nor V, nor letters with dots.
  { country: 'SE', letters: 'ABCDEFGHJKLMNOPRSTUWXYZ', formats: ['LLL DDD', 'LLL DDL'] },
  { country: 'SI', codes: SLOVENIA, formats: ['C LL DDD', 'C DLDDD', 'C DD LLL'], needs: 'separator' },
  { country: 'SK', codes: SLOVAKIA, formats: ['C DDDLL'] },
];

/** Contents of PDF417, composed for this test as annex D of the standard has them. */
import { expect, test } from 'vitest';
import { parseAamva } from '../../../src/endpoints/driver_license.read/read-aamva.ts';
import { CALIFORNIAN } from './specimens.ts';

const withElements = (elements: string, header = 'ANSI 636014080001DL00310278') =>
  parseAamva(`@\n\u001e\r${header}DL${elements}\r`);

test('driver_license.read parses a licence of a US state', () => {
  expect(parseAamva(CALIFORNIAN)).toEqual({
    standardVersion: 8,
    issuerIdentificationNumber: '636014',
    country: 'US',
    region: 'US-CA',
    vehicleClass: 'C',
    fields: {
      family_name: { value: 'MARLOWE-TEST', text: 'MARLOWE-TEST' },
      given_names: { value: 'JORDAN ALEX', text: 'JORDAN\nALEX' },
      number: { value: 'Z0000417', text: 'Z0000417' },
      birth_date: { value: '1985-02-11', text: '02111985' },
      issue_date: { value: '2016-02-09', text: '02092016' },
      expiry_date: { value: '2021-02-11', text: '02112021' },
      sex: { value: 'male', text: '1' },
      address: {
        value: '100 EXAMPLE STREET, ANYTOWN, CA 90000',
        text: '100 EXAMPLE STREET\nANYTOWN\nCA\n900000000',
      },
    },
  });
});

test('driver_license.read parses the dates of a Canadian licence, year first, and its postal code as encoded', () => {
  const parsed = withElements('DAQA1234\nDBB19850211\nDBA20300211\nDAG1 RUE\nDAIVILLE\nDAJQC\nDAKH2X 1Y4\nDCGCAN');
  expect(parsed).toMatchObject({
    country: 'CA',
    region: 'CA-QC',
    fields: {
      birth_date: { value: '1985-02-11' },
      expiry_date: { value: '2030-02-11' },
      address: { value: '1 RUE, VILLE, QC H2X 1Y4' },
    },
  });
});

test('driver_license.read parses names as versions 1 to 3 hold them', () => {
  const first = withElements('DAAMARLOWE,JORDAN,ALEX\nDAQZ1\nDBCF', 'AAMVA6360140101DL00290010');
  expect(first?.fields).toMatchObject({
    family_name: { value: 'MARLOWE' },
    given_names: { value: 'JORDAN ALEX' },
    sex: { value: 'female' },
  });
  expect(withElements('DCSMARLOWE\nDCTJORDAN ALEX\nDAQZ1')?.fields).toMatchObject({
    family_name: { value: 'MARLOWE' },
    given_names: { value: 'JORDAN ALEX' },
  });
});

test('driver_license.read takes no word that every object knows for a country or a sex', () => {
  const parsed = withElements('DAQZ1\nDCGconstructor\nDBCtoString\nDAJCA');
  expect(parsed).toMatchObject({ country: null, region: null });
  expect(Object.keys(parsed?.fields ?? {})).toEqual(['number']);
});

test.each([
  ['a day that does not exist', 'DAQZ1\nDBB13321985', 'birth_date'],
  ['a sex that is not specified', 'DAQZ1\nDBC9', 'sex'],
  ['a value that the jurisdiction does not have', 'DCSNONE\nDAQZ1', 'family_name'],
  ['an empty element', 'DCS\nDAQZ1', 'family_name'],
])('driver_license.read leaves out %s of a barcode', (_, elements, field) => {
  expect(withElements(elements)?.fields).not.toHaveProperty(field);
});

test('driver_license.read knows no country where the code names none', () => {
  expect(withElements('DAQZ1\nDAJCA')).toMatchObject({ country: null, region: null });
});

test.each(['', 'https://example.com', 'ANSI 636014080001', '@\n\u001e\rANSI 6360'])(
  'the AAMVA data of "%s" is null',
  (text) => {
    expect(parseAamva(text)).toBeNull();
  },
);

test('a code that was cut off holds what comes before the cut', () => {
  const cut = CALIFORNIAN.slice(0, CALIFORNIAN.indexOf('DBA0211') + 7);
  expect(parseAamva(cut)?.fields).toMatchObject({ number: { value: 'Z0000417' }, birth_date: { value: '1985-02-11' } });
  expect(parseAamva(cut)?.fields).not.toHaveProperty('expiry_date');
});

/**
 * Serial formats of cars in the United States and Canada, those most issued today. Sources: Wikipedia, "Vehicle registration
 * plates of the United States" and "Vehicle registration plates of Canada", and the pages of single states.
 */
import type { CountryGrammar } from './grammar.ts';

const us = (state: string, ...formats: string[]): CountryGrammar => ({ country: 'US', region: `US-${state}`, formats });
const canada = (province: string, ...formats: string[]): CountryGrammar => ({
  country: 'CA',
  region: `CA-${province}`,
  formats,
});
const ANYWHERE = ['LLL DDD', 'DDD LLL'];

export const NORTH_AMERICA: readonly CountryGrammar[] = [
  us('AK', 'LLL DDD'),
  us('AR', ...ANYWHERE, 'LLL DDL'),
  us('AZ', 'LLL DDDD'),
  // Cars; commercial vehicles. Government plates, digits only, need the state's name.
  us('CA', 'DLLLDDD', 'DLDDDDD', 'DDDDDLD'),
  { ...us('CA', 'DDDDDDD'), needs: 'origin' },
  us('CO', 'LLL DDD', 'DDD LLL', 'LLL LDD'),
  { ...us('CT', 'LL DDDDD'), letters: 'ABCDEFGHJKLMNPQRSTUVWXYZ' },
  us('FL', 'LLL LDD', 'LLL DDD'),
  us('GA', 'LLL DDDD'),
  us('HI', 'LLL DDD'),
  us('IA', 'LLL DDD'),
  us('ID', 'DL DDDDD', 'L DDDDDD'),
  us('IL', 'LDD DDDD', 'LL DDDDD'),
  us('IN', 'DDDLLL'),
  us('KS', ...ANYWHERE, 'DDDD LLL'),
  us('KY', ...ANYWHERE, 'LDL DDD'),
  us('LA', ...ANYWHERE),
  us('MA', 'DLL LDD', 'DLLL DD'),
  us('MD', 'DLL DDDD'),
  { ...us('ME', 'DDDD LL'), needs: 'origin' },
  us('MI', 'LLL DDDD', 'DLL LDD'),
  us('MN', ...ANYWHERE),
  // Cars since 2008; trucks.
  { ...us('MO', 'LLD LDL'), letters: 'ABCDEFGHJKLMNPRSTUVWXYZ' },
  us('MO', 'DLL DDD'),
  us('MS', 'LLL DDDD', 'LLL DDD'),
  us('NC', 'LLL DDDD'),
  us('ND', 'DDD LLL'),
  us('NE', 'LLL DDD'),
  us('NJ', 'LDD LLL'),
  us('NM', 'LLL DDD'),
  us('NV', 'DDD LDD', 'DDL DDD'),
  us('NY', 'LLL DDDD'),
  us('OH', 'LLL DDDD'),
  us('OK', 'LLL DDD', 'DDD LLL'),
  us('OR', ...ANYWHERE),
  us('PA', 'LLL DDDD'),
  us('SC', ...ANYWHERE),
  us('SD', 'DLL DDD', 'DDL DDD'),
  us('TN', 'LDD DDL', 'LLL DDDD'),
  us('TX', 'LLL DDDD', 'LLD LDDD'),
  us('UT', 'LDD DLL'),
  us('VA', 'LLL DDDD'),
  us('VT', 'LLL DDD'),
  us('WA', 'LLL DDDD', 'DDD LLL'),
  us('WI', 'LLL DDDD', 'DDD LLL'),
  us('WV', 'DLL DDD'),
  canada('AB', 'LLL DDDD', 'LLL DDD'),
  { ...canada('BC', 'LLD DDL', 'LLL DDD', 'DDD LLL'), letters: 'ABCDEFGHJKLMNPRSTVWXYZ' },
  canada('MB', 'LLL DDD'),
  canada('NB', 'LLL DDD'),
  canada('NL', 'LLL DDD'),
  canada('NS', 'LLL DDD'),
  // The series began with AAAA in 1997 and has reached D.
  { ...canada('ON', '[ABCD]LLL DDD'), letters: 'ABCDEFGHJKLMNPQRSTVWXYZ' },
  canada('QC', 'LDD LLL', 'DDD LLL'),
  canada('SK', 'DDD LLL'),
];

/** `docs/bounds.md` states every named bound, with its value in the source. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STREAM_LIMITS } from '../../src/api/job-streams.ts';
import { readSourceFiles } from '../architecture/source-files.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { readDocument } from './snippets.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
  KB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
};
const STATED = /`(src\/[\w./-]+\.ts)#([A-Z_]+)` = ([\d.]+)(?: (ms|s|min|h|d|KB|MB|GB)\b)?/g;
const DECLARED = /^(?:export )?const ([A-Z][A-Z\d_]*)(?:: [^=]+)? = ([\dA-Z_.* ]+);$/gm;

const page = readDocument('docs/bounds.md');
const sources = new Map(readSourceFiles('src/**/*.ts').map((file) => [file.path, file]));

/** The value of a constant: a product of numbers and of constants of its file, or of the files that it imports. */
function constantValue(path: string, name: string): number | null {
  const file = sources.get(path);
  const declared = [...(file?.text ?? '').matchAll(DECLARED)].find(([, found]) => found === name);
  if (!file || !declared) return null;
  const places = [path, ...file.imports.map(({ target }) => target)];
  const factors = (declared[2] ?? '').split('*').map((factor) => {
    const number = Number(factor.replaceAll('_', ''));
    if (!Number.isNaN(number)) return number;
    return places.map((place) => constantValue(place, factor.trim())).find((value) => value !== null) ?? Number.NaN;
  });
  return factors.reduce((product, factor) => product * factor, 1);
}

const stated = [...page.matchAll(STATED)].map(([, path = '', name = '', number = '', unit]) => ({
  bound: `${path}#${name}`,
  path,
  name,
  value: Number(number) * (unit === undefined ? 1 : (UNITS[unit] ?? Number.NaN)),
}));

it('every bound that the page states is found', () => {
  expect(stated.length).toBeGreaterThan(50);
  expect(page.match(/`src\/[^`]*#[^`]*`/g)).toHaveLength(stated.length);
});

describe('each stated bound', () => {
  it.each(stated)('the stated bound $bound has this value in its source', ({ path, name, value }) => {
    expect(existsSync(PROJECT_DIRECTORY + path)).toBe(true);
    expect(constantValue(path, name)).toBe(value);
  });
});

it('the page of bounds states the bounds of event streams', () => {
  const { perKey, total, maximumAgeMs, checkIntervalMs, unreadBytes } = STREAM_LIMITS;
  for (const row of [
    `| event streams in a process, of one key and in all | ${perKey}, ${total.toLocaleString('en-US')} |`,
    `| age of an event stream | ${maximumAgeMs / 60_000} min; its key is checked every ${checkIntervalMs / 1_000} s |`,
    `| unread bytes of an event stream | ${unreadBytes / 1024 ** 2} MB |`,
  ]) {
    expect(page).toContain(row);
  }
});

it('the page of bounds states every time-out, interval, pause, patience and batch of the service', () => {
  const named = [...sources.values()]
    .filter(({ path }) => !/^src\/(?:cli|client|embedded|endpoints)\//.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(DECLARED)].map(([, name = '']) => ({ path, name })))
    .filter(({ name }) =>
      /(?:^|_)(?:(?:TIMEOUT|INTERVAL|CHECK|DELAY|GRACE|IDLE|PATIENCE|PAUSE|READ|RETRY|STALL|WAIT)_MS|BATCH(?:_SIZE)?)$/.test(
        name,
      ),
    )
    .map(({ path, name }) => `${path}#${name}`);
  const known = stated.map(({ bound }) => bound);
  expect(named.filter((bound) => !known.includes(bound))).toEqual([]);
});

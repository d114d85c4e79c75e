import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { asksForHelp, describeUsage, readSettings } from '../../src/embedded/settings.ts';

it('every setting has a default', () => {
  expect(readSettings([], {})).toMatchObject({ dataDirectory: resolve('.data'), apiHost: '127.0.0.1' });
  expect(readSettings([], {}).apiPort).toBeUndefined();
});

it('a flag takes precedence over a variable', () => {
  const settings = readSettings(['--api-port', '9000'], { API_PORT: '9001', POSTGRES_PORT: '0' });
  expect(settings.apiPort).toBe(9000);
  expect(settings.postgresPort).toBe(0);
});

it.each(['http', '70000', '-1', '1.5'])('the port %s is refused, naming flag and variable', (port) => {
  expect(() => readSettings([], { TEMPORAL_WEB_PORT: port })).toThrow(/TEMPORAL_WEB_PORT \(--temporal-web-port\)/);
});

it('an unknown flag is refused, and the known ones listed', () => {
  expect(() => readSettings(['--port', '1'], {})).toThrow(/--api-port, API_PORT/);
});

it.each(['--help', '-h'])('%s asks for the flags, which are listed', (flag) => {
  expect([asksForHelp([flag]), asksForHelp([])]).toEqual([true, false]);
  expect(describeUsage('npm start')).toMatch(/^Usage: npm start [\s\S]*--api-port, API_PORT/);
});

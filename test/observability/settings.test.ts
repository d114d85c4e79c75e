/** Settings of operators that would not work are refused at boot, and what is off by default is off. */
import { describe, expect, it } from '@jest/globals';
import { type ProcessName, readConfig } from '../../src/config/config.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://db/x',
  TEMPORAL_ADDRESS: 'temporal:7233',
  SERVICE_ENVIRONMENT: 'development',
};
const read = <Name extends ProcessName>(name: Name, given: Record<string, string> = {}) =>
  readConfig(name, { ...NEEDED, ...given });

it('metrics, traces and versioning are off until they are asked for', () => {
  expect(read('worker:orchestration')).toMatchObject({
    METRICS_ADDRESS: '',
    TEMPORAL_METRICS_ADDRESS: '',
    OTEL_EXPORTER_OTLP_ENDPOINT: null,
    TEMPORAL_BUILD_ID: '',
  });
});

describe('a setting that would not work is refused', () => {
  it.each([
    ['METRICS_ADDRESS', '9464'],
    ['TEMPORAL_METRICS_ADDRESS', 'localhost:9465'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    // A full stop would end the deployment's name in Temporal.
    ['TEMPORAL_BUILD_ID', '1.0.0'],
    ['INPUT_RETENTION_DAYS', '0'],
    // Customers are promised events of 30 days.
    ['EVENT_RETENTION_DAYS', '7'],
  ])('%s %s', (name, value) => {
    expect(() => read('worker:orchestration', { [name]: value })).toThrow(new RegExp(`${name} must be`));
  });
});

it('addresses of IPv6 and of a name are taken', () => {
  expect(read('api', { METRICS_ADDRESS: '[::]:9464' }).METRICS_ADDRESS).toBe('[::]:9464');
  expect(read('api', { METRICS_ADDRESS: 'localhost:9464' }).METRICS_ADDRESS).toBe('localhost:9464');
});

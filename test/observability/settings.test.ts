/** Settings that cannot work are refused at boot, and optional features are off by default. */
import { describe, expect, it } from 'vitest';
import { type ProcessName, readConfig } from '../../src/platform/config/config.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://db/x',
  TEMPORAL_ADDRESS: 'temporal:7233',
  SERVICE_ENVIRONMENT: 'development',
};
const read = <Name extends ProcessName>(name: Name, given: Record<string, string> = {}) =>
  readConfig(name, { ...NEEDED, ...given });

it('metrics, traces and versioning are off by default', () => {
  expect(read('worker:orchestration')).toMatchObject({
    METRICS_ADDRESS: '',
    TEMPORAL_METRICS_ADDRESS: '',
    OTEL_EXPORTER_OTLP_ENDPOINT: null,
    TEMPORAL_BUILD_ID: '',
  });
});

describe('a setting that cannot work', () => {
  it.each([
    ['METRICS_ADDRESS', '9464'],
    ['TEMPORAL_METRICS_ADDRESS', 'localhost:9465'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    // A full stop would end the deployment's name in Temporal.
    ['TEMPORAL_BUILD_ID', '1.0.0'],
    ['INPUT_RETENTION_DAYS', '0'],
    // Customers are promised 30 days of events.
    ['EVENT_RETENTION_DAYS', '7'],
  ])('the setting %s=%s is refused', (name, value) => {
    expect(() => read('worker:orchestration', { [name]: value })).toThrow(new RegExp(`${name} must be`));
  });
});

it('IPv6 addresses and host names are accepted as the address of metrics', () => {
  expect(read('api', { METRICS_ADDRESS: '[::]:9464' }).METRICS_ADDRESS).toBe('[::]:9464');
  expect(read('api', { METRICS_ADDRESS: 'localhost:9464' }).METRICS_ADDRESS).toBe('localhost:9464');
});

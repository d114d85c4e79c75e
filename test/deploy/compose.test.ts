import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TEMPORAL_SERVER } from '../../scripts/install-temporal-server.ts';
import { DYNAMIC_CONFIG } from '../../src/embedded/temporal.ts';
import { PROCESS_VARIABLES, type ProcessName, readConfig } from '../../src/platform/config/config.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { COMPOSE_TEXT, readComposeFile, variablesWithoutDefault } from './compose-file.ts';

const file = readComposeFile();
const services = Object.entries(file.services);
const require = createRequire(import.meta.url);
const { scripts } = require('../../package.json') as { scripts: Record<string, string> };

const BY_HAND: readonly ProcessName[] = [
  'ledger:verify',
  'credits',
  'subscriptions',
  'price-books',
  'releases',
  'storage',
];
/** The processes that serve or prepare the service. */
const processes = (Object.keys(PROCESS_VARIABLES) as ProcessName[]).filter((name) => !BY_HAND.includes(name));
const serviceOf = (name: ProcessName) => file.services[name.replace(':', '-')];

describe('docker-compose.yml', () => {
  it('docker-compose.yml is valid against the schema of the Compose Specification', () => {
    const folder = require.resolve('dclint/package.json').replace(/package\.json$/, '');
    const { $schema: _, ...schema } = require(`${folder}schemas/compose.schema.json`) as Record<string, unknown>;
    // Ajv does not know the formats of the Compose Specification ("duration", "ports", …).
    const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    validate(file);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('docker-compose.yml needs no variable, since each has a default', () => {
    expect(variablesWithoutDefault()).toEqual([]);
  });

  it('docker-compose.yml runs the version of Temporal that the tests and the benchmark build', () => {
    const images = services
      .map(([, { image }]) => image)
      .filter((image) => /^temporalio\/(?:server|admin-tools):/.test(image));
    expect(new Set(images.map((image) => image.split(':')[1]))).toEqual(new Set([TEMPORAL_SERVER.version]));
  });

  it('docker-compose.yml takes every password and key from a variable', () => {
    const literals = COMPOSE_TEXT.match(
      /^.*(?:PASSWORD|PWD|SECRET|SIGNING_KEY|accessKey|secretKey)"?: (?!["']?\$\{).*$/gm,
    );
    expect(literals ?? []).toEqual([]);
  });

  it('docker-compose.yml refers only to existing services, volumes and configurations', () => {
    for (const [name, { depends_on = {}, volumes = [], configs = [] }] of services) {
      for (const other of Object.keys(depends_on))
        expect([name, Object.keys(file.services)]).toEqual([name, expect.arrayContaining([other])]);
      for (const volume of volumes) expect(Object.keys(file.volumes)).toContain(volume.split(':')[0]);
      for (const { source } of configs) expect(Object.keys(file.configs)).toContain(source);
    }
  });

  it('services wait only for conditions that can be met', () => {
    for (const [, { depends_on = {} }] of services) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const awaited = file.services[other];
        if (condition === 'service_healthy') expect([other, awaited?.healthcheck]).toEqual([other, expect.anything()]);
        else
          expect([other, condition, awaited?.restart]).toEqual([
            other,
            'service_completed_successfully',
            'on-failure:5',
          ]);
      }
    }
  });

  it('`up --wait` ends, since a lasting service awaits whatever ends by itself', () => {
    const ends = services.filter(([, { restart }]) => restart === 'on-failure:5').map(([name]) => name);
    const awaited = services
      .filter(([name]) => !ends.includes(name))
      .flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
    expect(ends).toEqual(['migrate', 'temporal-schema', 'temporal-namespace']);
    expect(awaited).toEqual(expect.arrayContaining(ends));
  });

  it('docker-compose.yml gives Temporal the settings of `npm start`', () => {
    const settings: Record<string, [{ value: unknown }]> = parse(
      file.configs['temporal-dynamic-config']?.content ?? '',
    );
    const values = Object.entries(settings).map(([name, [{ value }]]) => [name, value]);
    expect(Object.fromEntries(values)).toEqual(DYNAMIC_CONFIG);
  });

  it('docker-compose.yml shares one folder between the processes that read or write files', () => {
    const withStorage = services.filter(([, { environment = {} }]) => 'STORAGE_DIRECTORY' in environment);
    expect(withStorage.map(([name]) => name)).toEqual(['api', 'worker-orchestration', 'worker-inference']);
    for (const [, { environment, volumes }] of withStorage) {
      expect([environment?.STORAGE_DIRECTORY, volumes]).toEqual(['/storage', ['storage:/storage']]);
    }
  });

  it('the worker of every queue decodes videos, and the other images lack the package for it', () => {
    const built = services.filter(([, { build }]) => build !== undefined);
    const heavy = built.filter(([, { build }]) => build !== '.');
    expect(heavy.map(([name, { build }]) => [name, build])).toEqual([
      ['worker-inference', { context: '.', target: 'inference-heavy' }],
    ]);
    const images = new Set(heavy.map(([, { image }]) => image));
    for (const [name, { build, image }] of built) expect([name, images.has(image)]).toEqual([name, build !== '.']);
  });

  it('docker-compose.yml connects the processes to its database', () => {
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = file.services.postgres?.environment ?? {};
    const expected = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`;
    for (const name of processes) expect(serviceOf(name)?.environment?.DATABASE_URL).toBe(expected);
  });
});

describe.each(processes)('the service of %s', (name) => {
  const service = serviceOf(name);

  it('a service runs the same file as `npm run`', () => {
    const entry = service?.command?.[1] ?? '';
    expect(service?.command).toEqual(['node', entry]);
    expect(scripts[name]).toBe(`exec node ${entry}`);
    expect(existsSync(PROJECT_DIRECTORY + entry)).toBe(true);
  });

  it('a service sets only variables that its process reads', () => {
    const known: readonly string[] = PROCESS_VARIABLES[name];
    expect(Object.keys(service?.environment ?? {}).filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it('a service sets every required variable', () => {
    expect(() => readConfig(name, service?.environment)).not.toThrow();
  });

  it('a service can be configured for production with variables', () => {
    const key = 'k'.repeat(32);
    const production = { SERVICE_ENVIRONMENT: 'production', URL_SIGNING_KEY: key, SECRET_SEALING_KEYS: key };
    const { environment } = readComposeFile(production).services[name.replace(':', '-')] ?? {};
    expect(() => readConfig(name, environment)).not.toThrow();
  });

  it('a service can write only where it must', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });
});

import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  PROCESS_VARIABLES,
  type ProcessName,
  readConfig,
  VARIABLES,
  type VariableName,
} from '../../../src/platform/config/config.ts';

const processes = Object.keys(PROCESS_VARIABLES) as ProcessName[];
const names = Object.keys(VARIABLES) as VariableName[];

/** A valid value for each variable that is required, at least in production. */
const REQUIRED: Record<string, string> = {
  DATABASE_URL: 'postgres://user:password@127.0.0.1:5432/service',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  URL_SIGNING_KEY: 'a-key-of-thirty-two-characters!!',
  SECRET_SEALING_KEYS: 'another-of-thirty-two-characters',
};

function problemsOf(processName: ProcessName, environment: Record<string, string>): string {
  try {
    readConfig(processName, environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return '';
}

describe.each(processes)('%s', (processName) => {
  const wanted: readonly VariableName[] = PROCESS_VARIABLES[processName];

  it('a process starts with the required variables and has a default for the rest', () => {
    const config = readConfig(processName, REQUIRED);
    expect(Object.keys(config).sort()).toEqual([...wanted].sort());
    expect(Object.values(config)).not.toContain(undefined);
  });

  it('a process names all its missing variables at once', () => {
    const required = wanted.filter((name) => VARIABLES[name].default === undefined);
    const message = problemsOf(processName, {});
    expect(message).toContain(required.length > 0 ? processName : '');
    for (const name of required) expect(message).toMatch(new RegExp(`${name} is missing`));
    for (const name of names.filter((name) => !required.includes(name))) {
      expect(message).not.toContain(`${name} is missing`);
    }
  });

  it('a process treats an empty variable as missing', () => {
    const empty = Object.fromEntries(wanted.map((name) => [name, '']));
    expect(problemsOf(processName, empty)).toBe(problemsOf(processName, {}));
  });

  it('a process ignores variables of other processes', () => {
    const foreign = names.filter((name) => !wanted.includes(name));
    const broken = Object.fromEntries(foreign.map((name) => [name, '\u0000 broken']));
    expect(problemsOf(processName, { ...REQUIRED, ...broken })).toBe('');
  });
});

describe('an invalid value', () => {
  it.each([
    ['api', 'SERVICE_ENVIRONMENT', 'staging', 'must be one of development, production'],
    ['api', 'LOG_LEVEL', 'verbose', 'must be one of fatal, error, warn, info, debug, trace'],
    ['api', 'DATABASE_URL', 'localhost', 'must be a URL'],
    ['api', 'PUBLIC_BASE_URL', 'api.example', 'must be a URL'],
    ['api', 'DATABASE_POOL_SIZE', '0', 'must be a whole number from 1 to 200'],
    ['api', 'DATABASE_POOL_SIZE', '2.5', 'must be a whole number from 1 to 200'],
    ['api', 'API_PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['api', 'API_PORT', '80a', 'must be a whole number from 0 to 65535'],
    ['api', 'OPEN_JOBS_LIMIT', '-1', 'must be a whole number from 1 to 1000000'],
    [
      'worker:inference',
      'INFERENCE_QUEUES',
      'inference-gpu,webhooks',
      'must be one of inference-gpu, inference-heavy, inference-test',
    ],
    ['worker:inference', 'INFERENCE_PROCESSES', 'many', 'must be a whole number from 1 to 64'],
    ['worker:webhooks', 'WEBHOOK_ALLOW_PRIVATE_TARGETS', 'yes', 'must be true or false'],
    ['api', 'SECRET_SEALING_KEYS', `${REQUIRED.SECRET_SEALING_KEYS},`, 'must be a list without empty items'],
  ] as const)(
    'the configuration of %s refuses %s=%s and names the allowed values',
    (processName, name, value, problem) => {
      expect(problemsOf(processName, { ...REQUIRED, [name]: value })).toContain(`${name} ${problem}`);
    },
  );

  it('two invalid values are both named', () => {
    const message = problemsOf('api', { ...REQUIRED, LOG_LEVEL: 'loud', API_PORT: 'http' });
    expect(message).toContain('LOG_LEVEL');
    expect(message).toContain('API_PORT');
  });

  it('the refusal of an invalid secret does not quote it', () => {
    const secret = 'hunter2';
    const message = problemsOf('api', { ...REQUIRED, DATABASE_URL: secret, URL_SIGNING_KEY: secret });
    expect(message).toContain('DATABASE_URL');
    expect(message).toContain('URL_SIGNING_KEY');
    expect(message).not.toContain(secret);
  });
});

describe('values', () => {
  it('configured values have their types', () => {
    const inference = readConfig('worker:inference', {
      ...REQUIRED,
      INFERENCE_QUEUES: 'inference-heavy, inference-gpu',
    });
    expect(inference.INFERENCE_QUEUES).toEqual(['inference-heavy', 'inference-gpu']);
    expect(inference.INFERENCE_THREADS).toBe(1);
    const webhooks = readConfig('worker:webhooks', { ...REQUIRED, SERVICE_ENVIRONMENT: 'development' });
    expect(webhooks.WEBHOOK_ALLOW_PRIVATE_TARGETS).toBe(false);
  });

  it('a configured address loses its trailing slash', () => {
    const { PUBLIC_BASE_URL } = readConfig('api', { ...REQUIRED, PUBLIC_BASE_URL: 'https://api.example/' });
    expect(PUBLIC_BASE_URL).toBe('https://api.example');
  });
});

describe('WEBHOOK_ALLOW_PRIVATE_TARGETS=true', () => {
  const allowed = { ...REQUIRED, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };

  it('WEBHOOK_ALLOW_PRIVATE_TARGETS=true is refused in production, the default environment', () => {
    for (const environment of [allowed, { ...allowed, SERVICE_ENVIRONMENT: 'production' }]) {
      expect(problemsOf('worker:webhooks', environment)).toMatch(/WEBHOOK_ALLOW_PRIVATE_TARGETS must be false/);
    }
  });

  it('WEBHOOK_ALLOW_PRIVATE_TARGETS=true is accepted in development', () => {
    const config = readConfig('worker:webhooks', { ...allowed, SERVICE_ENVIRONMENT: 'development' });
    expect(config.WEBHOOK_ALLOW_PRIVATE_TARGETS).toBe(true);
  });
});

describe('URL_SIGNING_KEY', () => {
  const withoutKey = { ...REQUIRED, URL_SIGNING_KEY: '' };

  it('URL_SIGNING_KEY is required in production and must be long', () => {
    expect(problemsOf('api', withoutKey)).toMatch(/URL_SIGNING_KEY must have 32 characters or more/);
    expect(problemsOf('api', { ...REQUIRED, URL_SIGNING_KEY: 'x'.repeat(31) })).toMatch(/URL_SIGNING_KEY/);
    expect(problemsOf('api', { ...REQUIRED, URL_SIGNING_KEY: 'x'.repeat(32) })).toBe('');
  });

  it('URL_SIGNING_KEY has a default in development', () => {
    expect(problemsOf('api', { ...withoutKey, SERVICE_ENVIRONMENT: 'development' })).toBe('');
  });
});

describe('SECRET_SEALING_KEYS', () => {
  const [key, old] = ['x'.repeat(32), 'y'.repeat(32)];

  it('SECRET_SEALING_KEYS may be several during a rotation', () => {
    const config = readConfig('api', { ...REQUIRED, SECRET_SEALING_KEYS: `${key}, ${old}` });
    expect(config.SECRET_SEALING_KEYS).toEqual([key, old]);
  });

  it('SECRET_SEALING_KEYS are required in production and must all be long', () => {
    for (const given of ['', `${key},short`, 'x'.repeat(31)]) {
      const message = problemsOf('api', { ...REQUIRED, SECRET_SEALING_KEYS: given });
      expect(message).toMatch(/SECRET_SEALING_KEYS must have 32 characters or more each/);
    }
    const inDevelopment = { ...REQUIRED, SECRET_SEALING_KEYS: '', SERVICE_ENVIRONMENT: 'development' };
    expect(problemsOf('worker:webhooks', inDevelopment)).toBe('');
  });
});

describe('STORAGE=bucket', () => {
  it('STORAGE=bucket needs the name of the bucket, which may have a folder', () => {
    expect(problemsOf('storage', { STORAGE: 'bucket' })).toContain('STORAGE_BUCKET must name a bucket');
    expect(readConfig('storage', { STORAGE: 'bucket,disk', STORAGE_BUCKET: 'some.bucket-1/a/b' })).toMatchObject({
      STORAGE: ['bucket', 'disk'],
      STORAGE_BUCKET: { bucket: 'some.bucket-1', prefix: 'a/b' },
    });
  });

  it.each(['Upper', 'x', 'bucket/', 'bucket//a', 'bucket/../a', 's3://bucket'])('STORAGE_BUCKET refuses %s', (name) => {
    expect(problemsOf('storage', { STORAGE_BUCKET: name })).toContain('STORAGE_BUCKET must be');
  });

  it('STORAGE_KMS_KEY_ID is accepted only with the encryption that has a key', () => {
    const key = { STORAGE_KMS_KEY_ID: 'key-1' };
    expect(problemsOf('storage', key)).toContain('STORAGE_KMS_KEY_ID needs STORAGE_ENCRYPTION to be aws:kms');
    expect(problemsOf('storage', { ...key, STORAGE_ENCRYPTION: 'aws:kms' })).toBe('');
  });
});

describe('CONSOLE_CLIENT_ID', () => {
  it('CONSOLE_CLIENT_ID needs the endpoints of the provider and the provider of the management API', () => {
    const client = { ...REQUIRED, CONSOLE_CLIENT_ID: 'console' };
    for (const problem of [
      'CONSOLE_AUTHORIZATION_URL must be a URL',
      'CONSOLE_TOKEN_URL must be a URL',
      'MANAGEMENT_JWT_ISSUER must be set',
    ]) {
      expect(problemsOf('api', client)).toContain(problem);
    }
    const config = readConfig('api', {
      ...client,
      CONSOLE_AUTHORIZATION_URL: 'https://login.example/authorize?audience=vehicles',
      CONSOLE_TOKEN_URL: 'https://login.example/token',
      MANAGEMENT_JWT_ISSUER: 'https://login.example/',
      MANAGEMENT_JWKS_URL: 'https://login.example/jwks',
    });
    expect(config).toMatchObject({ CONSOLE_CLIENT_ID: 'console', CONSOLE_TEMPORAL_URL: null });
  });
});

describe('MANAGEMENT_JWT_ISSUER', () => {
  it('MANAGEMENT_JWT_ISSUER needs the URL of its keys, and is empty by default', () => {
    const issuer = { ...REQUIRED, MANAGEMENT_JWT_ISSUER: 'https://login.example/' };
    expect(problemsOf('api', issuer)).toContain('MANAGEMENT_JWKS_URL must be a URL');
    // Issuers are compared literally, so the trailing slash stays.
    const config = readConfig('api', { ...issuer, MANAGEMENT_JWKS_URL: 'https://login.example/jwks' });
    expect(config.MANAGEMENT_JWT_ISSUER).toBe('https://login.example/');
    expect(readConfig('api', REQUIRED).MANAGEMENT_JWT_ISSUER).toBe('');
  });
});

it('every variable belongs to a process, has a description and a valid default', () => {
  const read = new Set<string>(Object.values(PROCESS_VARIABLES).flat());
  expect(names.filter((name) => !read.has(name))).toEqual([]);
  for (const name of names) {
    const variable = VARIABLES[name];
    expect(variable.description).toMatch(/^[A-Z].*\.$/s);
    const fallback = variable.default;
    if (fallback !== undefined) expect(() => variable.parse(fallback)).not.toThrow();
  }
});

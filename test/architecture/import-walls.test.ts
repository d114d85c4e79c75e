/** Which room may import which. A broken wall names the file and the import. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findImportCircle, importsOf, readSourceFiles, type SourceFile } from './source-files.ts';

interface Wall {
  /** The folder whose files it restricts. */
  of: string;
  /** The only folders, files and packages that they may import, besides the folder itself. */
  may: (string | RegExp)[];
  /** Imports that are allowed for types only. */
  mayAsTypes?: (string | RegExp)[];
}

const STANDARD_LIBRARY = /^node:/;

/**
 * The rooms, lowest first, with the packages that each may import. A room imports only rooms that precede it in this list:
 * those below it in the picture of docs/architecture.md.
 */
const ROOMS: { of: string; packages: (string | RegExp)[]; asTypes?: string[] }[] = [
  // Types and constants only: TypeBox describes schemas, and the search attributes are keys of the SDK.
  { of: 'src/contracts/', packages: ['typebox', '@temporalio/common'] },
  {
    of: 'src/platform/',
    packages: [
      STANDARD_LIBRARY,
      '@aws-sdk/client-s3',
      '@aws-sdk/s3-request-presigner',
      /^@mikro-orm\//,
      /^(?:kysely|pg|pino|uuidv7)$/,
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/worker',
    ],
  },
  { of: 'src/price-books/', packages: [STANDARD_LIBRARY, 'csv-parse', 'csv-parse/sync'] },
  { of: 'src/releases/', packages: [STANDARD_LIBRARY] },
  { of: 'src/artefacts/', packages: [STANDARD_LIBRARY] },
  { of: 'src/organizations/', packages: [STANDARD_LIBRARY, '@mikro-orm/core'], asTypes: ['pino'] },
  { of: 'src/uploads/', packages: [STANDARD_LIBRARY, '@mikro-orm/core', 'file-type'] },
  {
    of: 'src/jobs/',
    packages: [STANDARD_LIBRARY, '@mikro-orm/core', 'pg', '@temporalio/client', '@temporalio/common'],
    asTypes: ['pino'],
  },
  { of: 'src/credits/', packages: [STANDARD_LIBRARY, '@mikro-orm/core', 'stripe', /^typebox/] },
  {
    of: 'src/webhooks/',
    packages: [STANDARD_LIBRARY, '@mikro-orm/core', 'undici', 'ipaddr.js', '@temporalio/client', '@temporalio/common'],
    asTypes: ['pino'],
  },
  { of: 'src/sdk-licenses/', packages: [STANDARD_LIBRARY, '@mikro-orm/core', 'jose'] },
  { of: 'src/inference/models/', packages: [STANDARD_LIBRARY, 'typebox', /^ajv/] },
  { of: 'src/inference/toolkit/', packages: [STANDARD_LIBRARY, 'typebox', /^ajv/, 'sharp', 'zxing-wasm/reader'] },
  { of: 'src/inference/runtime/', packages: [STANDARD_LIBRARY, 'onnxruntime-node', 'undici'] },
  { of: 'src/inference/video/', packages: [STANDARD_LIBRARY, 'sharp', '@napi-rs/webcodecs'] },
  { of: 'src/inference/bundles/', packages: [STANDARD_LIBRARY, /^typebox/, 'sharp'] },
  { of: 'src/endpoints/', packages: [STANDARD_LIBRARY, 'typebox', 'pdfkit'] },
  { of: 'src/inference/backends/', packages: [STANDARD_LIBRARY] },
  { of: 'src/inference/remote/', packages: [STANDARD_LIBRARY] },
  {
    of: 'src/observability/',
    packages: [
      STANDARD_LIBRARY,
      'prom-client',
      /^@opentelemetry\//,
      '@temporalio/common',
      '@temporalio/interceptors-opentelemetry',
    ],
    asTypes: ['pino', '@temporalio/client', '@temporalio/worker'],
  },
];

/** The folders that run the rooms: thin, and above all of them. */
const RUNNING: Wall[] = [
  {
    of: 'src/workflows/',
    // The backoff schedule is arithmetic without imports: workflows plan by it, and activities report by it.
    may: ['@temporalio/workflow', '@temporalio/common', 'src/contracts/', 'src/webhooks/backoff-schedule.ts'],
  },
  {
    of: 'src/activities/',
    may: [
      STANDARD_LIBRARY,
      '@temporalio/activity',
      '@temporalio/common',
      'src/contracts/',
      'src/platform/',
      'src/organizations/',
      'src/releases/',
      'src/jobs/',
      'src/credits/',
      'src/webhooks/',
      'src/inference/runtime/no-capacity-error.ts',
    ],
    mayAsTypes: ['pino', 'src/inference/', 'src/observability/', '@temporalio/client'],
  },
  {
    of: 'src/api/',
    may: [
      STANDARD_LIBRARY,
      /^(?:koa|@koa\/router|koa-body|busboy|jsonc-parser|marked|minisearch|file-type|ajv|ajv\/.*|ajv-formats|typebox|jose)$/,
      'src/contracts/',
      'src/platform/',
      'src/price-books/',
      'src/artefacts/',
      'src/organizations/',
      'src/uploads/',
      'src/jobs/',
      'src/credits/',
      'src/webhooks/',
      'src/sdk-licenses/',
      'src/endpoints/list.ts',
      'src/endpoints/shared/examples.ts',
      'src/endpoints/shared/endpoint-path.ts',
      'src/observability/tracing.ts',
    ],
    mayAsTypes: ['pino', '@temporalio/client', '@mikro-orm/postgresql', '@mikro-orm/core', 'src/observability/'],
  },
];

/** Used outside the service. */
const OUTSIDE: Wall[] = [
  // Signs what it forwards with the code that signs deliveries; else it knows the service by its client only.
  { of: 'src/cli/', may: [STANDARD_LIBRARY, 'src/client/', 'src/webhooks/signing.ts'] },
];

const WALLS: Wall[] = [
  ...ROOMS.map(({ of, packages, asTypes = [] }, index) => ({
    of,
    may: [...packages, ...ROOMS.slice(0, index).map((lower) => lower.of)],
    mayAsTypes: asTypes,
  })),
  ...RUNNING,
  ...OUTSIDE,
];

/** Composition roots construct dependencies, so they may import anything. */
const COMPOSITION_ROOTS = [
  'src/api/main.ts',
  'src/credits/credits-main.ts',
  'src/platform/database/migrate-main.ts',
  'src/sdk-licenses/subscriptions-main.ts',
  'src/price-books/price-books-main.ts',
  'src/releases/releases-main.ts',
  'src/credits/verify-ledger.ts',
  'src/api/print-openapi.ts',
  'src/cli/main.ts',
];

const matches = (target: string, allowed: readonly (string | RegExp)[]) =>
  allowed.some((entry) =>
    typeof entry === 'string'
      ? target === entry || (entry.endsWith('/') && target.startsWith(entry))
      : entry.test(target),
  );

function breachesOf({ of, may, mayAsTypes = [] }: Wall, files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith(of) && !COMPOSITION_ROOTS.includes(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ target, typeOnly }) => !matches(target, [of, ...may, ...(typeOnly ? mayAsTypes : [])]))
        .map(({ target, typeOnly }) => `${path} imports ${target}${typeOnly ? ' (types)' : ''}`),
    );
}

const files = readSourceFiles('src/**/*.ts');

describe.each(WALLS)('$of', (wall) => {
  it('a room imports only what it may', () => {
    expect(files.filter(({ path }) => path.startsWith(wall.of)).length).toBeGreaterThan(0);
    expect(breachesOf(wall, files)).toEqual([]);
  });
});

it('every file of src belongs to a room, to what runs, or to a composition root', () => {
  const homes = [...WALLS.map(({ of }) => of), 'src/workers/', 'src/client/', 'src/embedded/'];
  const loose = files.filter(({ path }) => !homes.some((home) => path.startsWith(home)));
  expect(loose.map(({ path }) => path)).toEqual(['src/database.ts']);
});

it.each(['src', 'bench', 'scripts', 'training'])('the folder %s has no circle of imports, types included', (folder) => {
  expect(findImportCircle(readSourceFiles(`${folder}/**/*.ts`))).toEqual([]);
});

it('SQL statements are in stores only', () => {
  const users = files.filter(
    ({ path, imports, text }) =>
      imports.some(({ target }) => target === 'src/platform/database/orm.ts') &&
      /\bquery(?:<|\()/.test(text) &&
      !path.startsWith('src/platform/database/'),
  );
  expect(users.map(({ path }) => path).filter((path) => !path.endsWith('-store.ts'))).toEqual([]);
});

describe('an endpoint', () => {
  const folders = files.filter(({ path }) => /^src\/endpoints\/(?!shared\/).+\//.test(path));
  /** The contracts of endpoints, and what they share. A bundle combines the contracts of others. */
  const STATEMENTS = [/^src\/endpoints\/[^/]+\/(?:contract|request|result)\.ts$/, /^src\/endpoints\/shared\/.+\.ts$/];

  it('an endpoint states its contract, request and result without importing code that runs it', () => {
    for (const name of ['contract', 'request', 'result']) {
      const stated = folders.filter(({ path }) => path.endsWith(`/${name}.ts`));
      expect(stated.length).toBeGreaterThan(0);
      for (const { path, imports } of stated) {
        const own = new RegExp(`^${posix.dirname(path)}/(?!pipeline)[^/]+\\.ts$`);
        const may = ['typebox', 'src/contracts/', own, ...STATEMENTS];
        const foreign = imports.filter(({ target }) => !matches(target, may));
        expect({ path, foreign }).toEqual({ path, foreign: [] });
      }
    }
  });

  it('an endpoint imports only the contracts of other endpoints, and neither API, database nor Temporal', () => {
    for (const { path, imports } of folders) {
      const own = `${path.split('/').slice(0, 3).join('/')}/`;
      const foreign = imports.filter(
        ({ target }) =>
          (target.startsWith('src/endpoints/') && !matches(target, [own, ...STATEMENTS])) ||
          /^src\/(?:api|jobs|workflows|activities|workers|embedded)\//.test(target) ||
          /^(?:@temporalio|@mikro-orm)\//.test(target),
      );
      expect({ path, foreign }).toEqual({ path, foreign: [] });
    }
  });
});

describe('the development identity provider', () => {
  const isEmbedded = (path: string) => path.startsWith('src/embedded/');

  it('the development identity provider is named nowhere outside src/embedded, nor is its package', () => {
    const outside = files.filter(
      ({ path, text }) => !isEmbedded(path) && /oidc-provider|identity-provider(?:-main)?\.ts/.test(text),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
    expect(
      files.some(({ path, imports }) => isEmbedded(path) && imports.some(({ target }) => target === 'oidc-provider')),
    ).toBe(true);
  });

  it('the development identity provider is never deployed: no source outside src/embedded imports that folder', () => {
    const importers = files.filter(
      ({ path, imports }) => !isEmbedded(path) && imports.some(({ target }) => isEmbedded(target)),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
  });
});

it('only composition roots and the configuration read process.env', () => {
  const readers = files.filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ path }) => path);
  const others = readers.filter((path) => !/^src\/(?:platform\/config|embedded)\//.test(path));
  // Its programs, which readers copy, take their key from the environment.
  const ofReaders = 'src/api/pages/snippets.ts';
  expect(others.filter((path) => path !== ofReaders && !COMPOSITION_ROOTS.includes(path))).toEqual([]);
});

describe('the search for circles', () => {
  const file = (path: string, text: string) => ({ path, text, imports: importsOf(path, text) });

  it('the search for circles names the files of a circle in order', () => {
    const circle = [
      file('src/x/a.ts', "import { b } from './b.ts';"),
      file('src/x/b.ts', "import type { C } from './c.ts';"),
      file('src/x/c.ts', "import { a } from './a.ts';"),
    ];
    expect(findImportCircle(circle)).toEqual(['src/x/a.ts', 'src/x/b.ts', 'src/x/c.ts', 'src/x/a.ts']);
  });

  it('the search for circles finds none where two files import a third', () => {
    const tree = [file('src/x/a.ts', "import './c.ts';\nimport './b.ts';"), file('src/x/b.ts', "import './c.ts';")];
    expect(findImportCircle([...tree, file('src/x/c.ts', '')])).toEqual([]);
  });
});

describe('the parsing of imports', () => {
  it.each([
    ["import { a } from './b.ts';", 'src/x/b.ts', false],
    ["import type { A } from '../y/b.ts';", 'src/y/b.ts', true],
    ["import {\n  a,\n  type B,\n} from 'node:fs';", 'node:fs', false],
    ["import './effect.ts';", 'src/x/effect.ts', false],
    ["export { a } from '@koa/router';", '@koa/router', false],
    ["export type { A } from 'pg';", 'pg', true],
    ["const a = await import('sharp');", 'sharp', false],
  ])('the parsing of imports finds %j', (text, target, typeOnly) => {
    expect(importsOf('src/x/file.ts', text)).toEqual([{ target, typeOnly }]);
  });

  it('a file that breaks a wall is reported', () => {
    const text = "import { createApp } from '../api/app.ts';";
    const path = 'src/jobs/wrong.ts';
    const wall = WALLS.find(({ of }) => of === 'src/jobs/') as Wall;
    expect(breachesOf(wall, [{ path, text, imports: importsOf(path, text) }])).toEqual([
      `${path} imports src/api/app.ts`,
    ]);
  });
});

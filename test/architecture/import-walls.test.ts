/** Who may import whom. A wall that is broken names the file and the import. */
import { posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { importsOf, readSourceFiles, type SourceFile } from './source-files.ts';

interface Wall {
  /** The files it holds for. */
  of: string;
  /** Files of these folders, besides those that `of` covers, and these packages may be imported; nothing else may. */
  may: (string | RegExp)[];
  /** May be imported for their types alone. */
  mayAsTypes?: (string | RegExp)[];
}

const STANDARD_LIBRARY = /^node:/;
const WALLS: Wall[] = [
  {
    of: 'src/contracts/',
    // Types and constants only: TypeBox describes schemas, and the search attributes are keys of the SDK.
    may: ['typebox', '@temporalio/common'],
  },
  { of: 'src/domain/', may: [STANDARD_LIBRARY, 'src/contracts/', 'uuidv7'] },
  { of: 'src/config/', may: [STANDARD_LIBRARY] },
  {
    of: 'src/db/',
    may: [STANDARD_LIBRARY, /^@mikro-orm\//, 'kysely', 'pg', 'src/contracts/', 'src/domain/'],
    mayAsTypes: ['pino'],
  },
  { of: 'src/storage/', may: [STANDARD_LIBRARY, /^@aws-sdk\//, 'src/contracts/', 'src/domain/'] },
  { of: 'src/workflows/', may: ['@temporalio/workflow', '@temporalio/common', 'src/contracts/'] },
  {
    of: 'src/api/',
    may: [
      STANDARD_LIBRARY,
      /^(?:koa|@koa\/router|busboy|file-type|ajv|ajv\/.*|ajv-formats|typebox|pg|jose)$/,
      'src/contracts/',
      'src/config/',
      'src/domain/',
      'src/db/',
      'src/storage/',
      'src/temporal/',
      'src/observability/log-context.ts',
      'src/observability/tracing.ts',
      'src/endpoints/list.ts',
      'src/endpoints/examples.ts',
    ],
    mayAsTypes: [
      'src/billing/',
      'pino',
      '@temporalio/client',
      '@mikro-orm/postgresql',
      '@mikro-orm/core',
      'src/observability/',
    ],
  },
  { of: 'src/billing/', may: ['stripe', 'src/domain/'] },
  {
    of: 'src/temporal/',
    may: ['@temporalio/client', '@temporalio/common', 'src/contracts/'],
  },
  {
    of: 'src/activities/',
    may: [
      STANDARD_LIBRARY,
      '@temporalio/activity',
      '@temporalio/common',
      'src/contracts/',
      'src/domain/',
      'src/db/',
      'src/delivery/',
      'src/observability/log-context.ts',
    ],
    mayAsTypes: ['pino', 'src/inference/', 'src/storage/', 'src/observability/', '@temporalio/client'],
  },
  {
    of: 'src/observability/',
    may: [
      STANDARD_LIBRARY,
      'prom-client',
      /^@opentelemetry\//,
      '@temporalio/common',
      '@temporalio/interceptors-opentelemetry',
      'src/contracts/',
      'src/db/',
    ],
    mayAsTypes: ['pino', '@temporalio/client', '@temporalio/worker', 'src/inference/'],
  },
  {
    of: 'src/delivery/',
    may: [STANDARD_LIBRARY, 'undici', 'ipaddr.js', 'src/contracts/', 'src/domain/', 'src/db/'],
    mayAsTypes: ['pino'],
  },
];

/** Composition roots construct dependencies, so they may import what their neighbours may not. */
const COMPOSITION_ROOTS = [
  'src/api/main.ts',
  'src/db/credits/credits-main.ts',
  'src/db/migrate-main.ts',
  'src/db/sdk-licenses/subscriptions-main.ts',
  'src/db/credits/verify-ledger.ts',
  'src/api/print-openapi.ts',
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
  it('imports only what it may', () => {
    expect(files.filter(({ path }) => path.startsWith(wall.of)).length).toBeGreaterThan(0);
    expect(breachesOf(wall, files)).toEqual([]);
  });
});

describe('an endpoint', () => {
  const folders = files.filter(({ path }) => /^src\/endpoints\/.+\//.test(path));
  /** What endpoints say of themselves, and what several of them share. A bundle is made of the statements of others. */
  const STATEMENTS = [
    /^src\/endpoints\/[^/]+\/(?:contract|request|result)\.ts$/,
    /^src\/endpoints\/(?!list\.ts)[^/]+\.ts$/,
  ];

  it('says in its contract, request and result what it is, without any code that runs it', () => {
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

  it('imports of others only what they say of themselves, and neither API, database nor Temporal', () => {
    for (const { path, imports } of folders) {
      const own = `${path.split('/').slice(0, 3).join('/')}/`;
      const foreign = imports.filter(
        ({ target }) =>
          (target.startsWith('src/endpoints/') && !matches(target, [own, ...STATEMENTS])) ||
          /^src\/(?:api|db|workflows|activities|workers|temporal|embedded)\//.test(target) ||
          /^(?:@temporalio|@mikro-orm)\//.test(target),
      );
      expect({ path, foreign }).toEqual({ path, foreign: [] });
    }
  });
});

describe('the development identity provider', () => {
  const isEmbedded = (path: string) => path.startsWith('src/embedded/');

  it('and its package are named by nothing outside src/embedded', () => {
    const outside = files.filter(
      ({ path, text }) => !isEmbedded(path) && /oidc-provider|identity-provider(?:-main)?\.ts/.test(text),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
    expect(
      files.some(({ path, imports }) => isEmbedded(path) && imports.some(({ target }) => target === 'oidc-provider')),
    ).toBe(true);
  });

  it('is part of nothing that is deployed: no source outside src/embedded imports that folder', () => {
    const importers = files.filter(
      ({ path, imports }) => !isEmbedded(path) && imports.some(({ target }) => isEmbedded(target)),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
  });
});

it('only composition roots and the configuration read process.env', () => {
  const readers = files.filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ path }) => path);
  const others = readers.filter((path) => !/^src\/(?:config|embedded)\//.test(path));
  expect(others.filter((path) => !COMPOSITION_ROOTS.includes(path))).toEqual([]);
});

describe('the reading of imports', () => {
  it.each([
    ["import { a } from './b.ts';", 'src/x/b.ts', false],
    ["import type { A } from '../y/b.ts';", 'src/y/b.ts', true],
    ["import {\n  a,\n  type B,\n} from 'node:fs';", 'node:fs', false],
    ["import './effect.ts';", 'src/x/effect.ts', false],
    ["export { a } from '@koa/router';", '@koa/router', false],
    ["export type { A } from 'pg';", 'pg', true],
    ["const a = await import('sharp');", 'sharp', false],
  ])('sees %j', (text, target, typeOnly) => {
    expect(importsOf('src/x/file.ts', text)).toEqual([{ target, typeOnly }]);
  });

  it('breaks a wall that a file breaks', () => {
    const text = "import { createApp } from '../api/app.ts';";
    const path = 'src/domain/wrong.ts';
    const wall = WALLS.find(({ of }) => of === 'src/domain/') as Wall;
    expect(breachesOf(wall, [{ path, text, imports: importsOf(path, text) }])).toEqual([
      `${path} imports src/api/app.ts`,
    ]);
  });
});

/** The files that `scripts/build-console.mjs` makes for browsers. Read once: a build replaces files under new names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';

export interface Asset {
  content: Buffer;
  gzipped: Buffer | null;
}

export interface Build {
  /** `index.html`; null without a build. */
  page: string | null;
  /** By their names, which carry a hash of the content. */
  assets: ReadonlyMap<string, Asset>;
}

export function readBuild(folder: URL): Build {
  const page = new URL('index.html', folder);
  if (!existsSync(page)) return { page: null, assets: new Map() };
  return { page: readFileSync(page, 'utf8'), assets: readAssets(new URL('assets/', folder)) };
}

/** Names carry a hash of the content, so that they never change. */
export function sendAsset(context: ApiContext, assets: Build['assets']): void {
  const name = String(context.params.name);
  const asset = assets.get(name);
  if (!asset) throw new ServiceError('resource_not_found', `There is no ${context.path}.`);
  context.type = extname(name);
  context.set('Cache-Control', 'public, max-age=31536000, immutable');
  context.set('X-Content-Type-Options', 'nosniff');
  context.vary('Accept-Encoding');
  const isGzipped = asset.gzipped !== null && context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isGzipped) context.set('Content-Encoding', 'gzip');
  context.body = isGzipped ? asset.gzipped : asset.content;
}

function readAssets(folder: URL): Map<string, Asset> {
  const names = readdirSync(folder);
  const read = (name: string) => readFileSync(new URL(name, folder));
  return new Map(
    names
      .filter((name) => !name.endsWith('.gz'))
      .map((name) => [
        name,
        { content: read(name), gzipped: names.includes(`${name}.gz`) ? read(`${name}.gz`) : null },
      ]),
  );
}

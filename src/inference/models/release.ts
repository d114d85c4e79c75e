/** One release of a model on disk: `model.json` and the files it names. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelManifest, parseManifest } from './manifest.ts';

export interface ReleaseFolder {
  directory: string;
  manifest: ModelManifest;
}

/**
 * Reads and checks `model.json`, and compares every file with its hash.
 * @throws Error that names the file or the field
 */
export async function readRelease(directory: string, model: string, release: string): Promise<ReleaseFolder> {
  const manifestPath = join(directory, 'model.json');
  await requireFile(manifestPath, 'model.json');
  const text = await readFile(manifestPath, 'utf8').catch(whenMissing('model.json is missing'));
  const manifest = parseManifest(text);
  if (manifest.model !== model) throw new Error(`model.json: model is ${manifest.model}, its folder ${model}`);
  if (manifest.release !== release)
    throw new Error(`model.json: release is ${manifest.release}, its folder ${release}`);
  for (const file of Object.keys(manifest.warmUp)) {
    if (!manifest.files[file]) throw new Error(`model.json: warmUp.${file} is not one of files`);
  }
  for (const file of Object.keys(manifest.files)) {
    if (!manifest.warmUp[file]) throw new Error(`model.json: warmUp.${file} is missing`);
    requireSamples(manifest, file);
    requirePlace(manifest, file);
  }
  for (const [file, { path }] of Object.entries(manifest.files)) {
    if (path === undefined) continue;
    const name = `files.${file}: ${path}`;
    await requireFile(join(directory, path), name);
    requireHash(manifest, file, await hashOf(join(directory, path)).catch(whenMissing(`${name} is missing`)));
  }
  return { directory, manifest };
}

/** @throws Error that names the file when it is missing or its hash differs from `model.json` */
export async function readModelFile({ directory, manifest }: ReleaseFolder, file: string): Promise<Buffer> {
  const entry = manifest.files[file];
  if (entry?.path === undefined) throw new Error(`files.${file}.path is missing from model.json`);
  const path = join(directory, entry.path);
  const name = `files.${file}: ${entry.path}`;
  await requireFile(path, name);
  const bytes = await readFile(path).catch(whenMissing(`${name} is missing`));
  requireHash(manifest, file, createHash('sha256').update(bytes).digest('hex'));
  return bytes;
}

/** Changes when a file in the folder is added, removed or written. Empty when the folder is gone. */
export async function fingerprintOf(directory: string): Promise<string> {
  const names = await readdir(directory).catch(whenMissing<string[]>([]));
  const parts = await Promise.all(
    names.toSorted().map(async (name) => {
      const found = await stat(join(directory, name)).catch(whenMissing(null));
      return found ? `${name} ${found.size} ${found.mtimeMs} ${found.ino}` : `${name} leads nowhere`;
    }),
  );
  return parts.join('\n');
}

/** Whether a release has been removed or written to since this fingerprint: missing files then mean nothing. */
export async function hasChangedSince(fingerprint: string, directory: string): Promise<boolean> {
  return (await hasGone(directory)) || (await fingerprintOf(directory)) !== fingerprint;
}

/** False for a dangling link, which somebody has put there. */
export async function hasGone(directory: string): Promise<boolean> {
  return (await lstat(directory).catch(whenMissing(null))) === null;
}

/** Whether the file system failed, rather than the release. */
export function isFileSystemError(error: Error): boolean {
  return 'syscall' in error;
}

/** Whether a file could not be opened or read. Another attempt may succeed. */
export function isUnreadable(error: Error): boolean {
  const failure = (error.cause ?? error) as NodeJS.ErrnoException;
  // A process may not read a folder that was missing when it started: see `forkInSandbox`.
  return failure.syscall !== undefined || failure.code === 'ERR_ACCESS_DENIED';
}

/**
 * Handles a failure to read a path. For a missing path it throws an Error with the message `instead`, or returns the value
 * `instead`; it rethrows any other failure.
 */
function whenMissing(instead: string): (error: NodeJS.ErrnoException) => never;
function whenMissing<Value extends object | null>(instead: Value): (error: NodeJS.ErrnoException) => Value;
function whenMissing<Value>(instead: Value | string) {
  return (error: NodeJS.ErrnoException): Value => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    if (typeof instead === 'string') throw new Error(instead, { cause: error });
    return instead;
  };
}

/**
 * Call it before opening a file: opening a named pipe without a writer never returns.
 * @param name what an error calls it
 */
async function requireFile(path: string, name: string): Promise<void> {
  const found = await stat(path).catch(whenMissing(`${name} is missing`));
  if (!found.isFile()) throw new Error(`${name} is not a file`);
}

/** In chunks, so that hashing gigabytes does not block the worker's thread. */
async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function requireHash({ files }: ModelManifest, file: string, actual: string): void {
  const entry = files[file];
  if (entry?.sha256 === actual) return;
  throw new Error(`files.${file}.sha256: ${entry?.path} has ${actual}, model.json says ${entry?.sha256}`);
}

/** A network is either a local file with its hash, or on a server. */
function requirePlace({ files }: ModelManifest, file: string): void {
  const { path, sha256, kserve } = files[file] ?? {};
  const isHere = path !== undefined && sha256 !== undefined;
  const isElsewhere = path === undefined && sha256 === undefined;
  if (kserve === undefined ? isHere : isElsewhere) return;
  throw new Error(`model.json: files.${file} must have path and sha256, or kserve instead`);
}

/** A batch is split along the first dimension, so all tensors must begin with the same variable dimension. */
function requireSamples({ files }: ModelManifest, file: string): void {
  const { batch, inputs = {}, outputs = {} } = files[file] ?? {};
  if (!batch || batch.max === 1) return;
  const tensors = [...entriesOf('inputs', inputs), ...entriesOf('outputs', outputs)];
  const name = tensors[0]?.first;
  const odd = tensors.find(({ first }) => typeof first !== 'string' || first !== name);
  if (!odd) return;
  throw new Error(
    `model.json: files.${file}.batch needs files.${file}.${odd.where}.shape to begin with the name that all inputs and ` +
      `outputs begin with, such as "N", not ${JSON.stringify(odd.first)}`,
  );
}

function entriesOf(kind: string, tensors: Readonly<Record<string, { shape: readonly (number | string)[] }>>) {
  return Object.entries(tensors).map(([name, { shape }]) => ({ where: `${kind}.${name}`, first: shape[0] }));
}

/** Address and key: from options, the environment, or the file that `vis login` writes. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ManagementClient, VehicleInferenceClient } from '../client/index.ts';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export interface StoredSettings {
  base_url?: string;
  api_key?: string;
  /** Signs what `listen` forwards. It never leaves this computer. */
  listening_secret?: string;
}

export interface ConnectionOptions {
  'base-url'?: string;
}

export function settingsPath({ XDG_CONFIG_HOME, HOME, VIS_CONFIG }: NodeJS.ProcessEnv): string {
  return VIS_CONFIG || join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'vis', 'settings.json');
}

export function readSettings(environment: NodeJS.ProcessEnv): StoredSettings {
  const path = settingsPath(environment);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as StoredSettings;
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not JSON. Remove it and run: vis login`);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Readable by this user only, and replaced as a whole. */
export function writeSettings(environment: NodeJS.ProcessEnv, changes: StoredSettings): void {
  const path = settingsPath(environment);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify({ ...readSettings(environment), ...changes }, null, 2)}\n`, { mode: 0o600 });
  chmodSync(partial, 0o600);
  renameSync(partial, path);
}

export function baseUrlOf({ environment }: Terminal, options: ConnectionOptions): string {
  const url = options['base-url'] ?? environment.VIS_BASE_URL ?? readSettings(environment).base_url;
  if (!url) throw new UsageError('No address is known. Run: vis login, or set VIS_BASE_URL.');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`${url} is not an address such as https://api.example.com.`);
  }
  return url;
}

export function apiKeyOf({ environment }: Terminal): string {
  const key = environment.VIS_API_KEY ?? readSettings(environment).api_key;
  if (!key) throw new UsageError('No API key is known. Run: vis login, or set VIS_API_KEY.');
  return whole(key, 'API key');
}

/** What no request can carry was not copied whole, or is the example of a page. */
export function whole(text: string, what: string): string {
  const credential = text.trim();
  if (!/^[\x21-\x7e]+$/.test(credential)) throw new UsageError(`This is not a whole ${what}: copy it again.`);
  return credential;
}

/** `attempts` of one request; a command that shows its own retries asks for one. */
export function clientOf(terminal: Terminal, options: ConnectionOptions, attempts = 4): VehicleInferenceClient {
  return new VehicleInferenceClient({ apiKey: apiKeyOf(terminal), baseUrl: baseUrlOf(terminal, options), attempts });
}

export function managementOf(terminal: Terminal, options: ConnectionOptions): ManagementClient {
  const token = terminal.environment.VIS_TOKEN;
  if (!token)
    throw new UsageError("This needs a member's token in VIS_TOKEN; an API key does not manage an organisation.");
  return new ManagementClient({ token: whole(token, 'token'), baseUrl: baseUrlOf(terminal, options) });
}

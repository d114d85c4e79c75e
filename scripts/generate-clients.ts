/**
 * `node scripts/generate-clients.ts`: writes the generated parts of the clients from the OpenAPI document. Run it after a
 * change of the contract; a test compares the files with what this makes.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildClientModel, readDocument } from './generate-clients/operations.ts';
import { ASYNC_SOURCES, printPython } from './generate-clients/python.ts';
import { printTypeScript } from './generate-clients/typescript.ts';

const ROOT = new URL('../', import.meta.url);
const PYTHON_FOLDER = 'clients/python/src/vehicle_inference/';

const TYPESCRIPT_FOLDER = 'src/client/';

/** Contents by path from the project's root. */
export function generateClients(): Record<string, string> {
  const model = buildClientModel(readDocument());
  const sources = Object.fromEntries(
    ASYNC_SOURCES.map((name) => [name, readFileSync(new URL(PYTHON_FOLDER + name, ROOT), 'utf8')]),
  );
  const python = Object.entries(printPython(model, sources)).map(([name, text]) => [PYTHON_FOLDER + name, text]);
  const typeScript = Object.entries(printTypeScript(model)).map(([name, text]) => {
    const path = TYPESCRIPT_FOLDER + name;
    return [path, formatted(path, text)];
  });
  return Object.fromEntries([...python, ...typeScript]);
}

function formatted(path: string, text: string): string {
  const biome = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', ROOT));
  const args = [biome, 'format', `--stdin-file-path=${path}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input: text, encoding: 'utf8', cwd: ROOT });
  if (status !== 0) throw new Error(`${path} cannot be formatted: ${stderr}`);
  return stdout;
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generateClients())) writeFileSync(new URL(path, ROOT), text);
}

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Every module that `entry` loads, by following its static imports within `src`. */
function modulesLoadedBy(entry: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(entry.href)) return seen;
  seen.add(entry.href);
  const source = readFileSync(entry, 'utf8');
  for (const [, typeOnly, specifier = ''] of source.matchAll(/^(?:import|export)( type)?[^;]*? from '([^']+)';/gm)) {
    if (typeOnly) continue;
    if (specifier.startsWith('.')) modulesLoadedBy(new URL(specifier, entry), seen);
    else seen.add(specifier);
  }
  return seen;
}

const source = (path: string) => new URL(`../../src/${path}`, import.meta.url);

test('the process that polls Temporal loads neither the picture decoder nor ONNX Runtime', () => {
  const pipelines = globSync('endpoints/*/pipeline.ts', { cwd: fileURLToPath(source('')) });
  expect(pipelines).toContain('endpoints/dashboard.read/pipeline.ts');
  const entries = ['inference/backends/create-backend.ts', ...pipelines];
  for (const entry of entries) {
    const loaded = modulesLoadedBy(source(entry));
    expect([...loaded].filter((module) => ['sharp', 'onnxruntime-node'].includes(module))).toEqual([]);
  }
});

test('the child process loads the picture decoder and ONNX Runtime', () => {
  const loaded = modulesLoadedBy(source('inference/runtime/child-main.ts'));
  expect(loaded).toContain('sharp');
  expect(loaded).toContain('onnxruntime-node');
});

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIRECTORY } from './processes.ts';

/** What `dashboard.read` answers with: the model, and those that it uses. */
export const OF_DASHBOARD_READ = ['dashboard-reader', 'text-line', 'print-reader'];
/** What `inspections` answers with. */
export const OF_INSPECTIONS = ['vehicle-parts', 'damage-finder', 'plate-finder', 'print-reader'];

/**
 * Copies some of the shipped models: an inference worker with all of them takes many times as long to start. Returns the folder,
 * for MODELS_DIRECTORY.
 */
export function copyModels(directory: string, names: readonly string[]): string {
  const models = join(directory, 'models');
  for (const name of names) {
    cpSync(join(PROJECT_DIRECTORY, 'models', name), join(models, name), { recursive: true });
  }
  return models;
}

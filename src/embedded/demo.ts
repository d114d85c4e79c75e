/**
 * `npm run demo`: the main job on real pictures through the public API. Uses the service that runs from the data folder, or
 * starts one in a throw-away folder on free ports. Exits with 0 only if every step succeeded.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSealingKeys } from '../platform/config/config.ts';
import { migrate } from '../platform/database/migrate.ts';
import { createSealedSecrets } from '../platform/sealed-secrets.ts';
import { runDemonstration } from './demonstration.ts';
import { createReporter } from './reporter.ts';
import {
  createDevelopmentWebhookEndpoint,
  disableDevelopmentWebhookEndpoint,
  importDemonstrationBooks,
  seedDevelopment,
} from './seed.ts';
import { findRunningService, processRecordOf, startService } from './service.ts';
import type { ServiceDescription } from './service-description.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';
import { asksForHelp, describeUsage, type EmbeddedSettings, readSettings } from './settings.ts';
import { listenForStop } from './stop-signals.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const reporter = createReporter((line) => console.log(line));

async function demonstrate(madeDirectory: string, service: ServiceDescription, signal: AbortSignal): Promise<string[]> {
  const { databaseUrl, organizationId } = service;
  const receiver = await startWebhookReceiver();
  const sealedSecrets = createSealedSecrets(readSealingKeys());
  const endpoint = { organizationId, url: receiver.url, livemode: true, sealedSecrets };
  const { id, secret } = await createDevelopmentWebhookEndpoint(databaseUrl, endpoint);
  signal.addEventListener('abort', () => void receiver.close());
  reporter.say(`\nA receiver of webhooks listens at ${receiver.url} (${id}).`);
  try {
    return await runDemonstration({
      service,
      receiver,
      webhookSecret: secret,
      picturesDirectory: join(PROJECT_DIRECTORY, 'training', 'examples'),
      madeDirectory,
      say: reporter.say,
      signal,
    });
  } finally {
    // A running service would otherwise retry for a day to reach a receiver that is gone.
    await disableDevelopmentWebhookEndpoint(databaseUrl, id);
    await receiver.close();
  }
}

/** Runs a service for the duration of the work and removes it completely. */
async function withThrowAwayService(
  settings: EmbeddedSettings,
  work: (service: ServiceDescription, signal: AbortSignal) => Promise<string[]>,
): Promise<string[]> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'vehicle-inference-demo-'));
  const record = processRecordOf(dataDirectory);
  const remove = () => rmSync(dataDirectory, { recursive: true, force: true });
  const signal = listenForStop({
    onFirst: () => reporter.say('\nStopping; once more Ctrl-C stops at once.'),
    onSecond: () => {
      record.killAll();
      remove();
    },
  });
  const anyPort = { apiPort: 0, temporalPort: 0, temporalWebPort: 0, postgresPort: 0, identityPort: 0 };
  const chosen = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  try {
    const service = await startService({
      settings: { ...settings, ...anyPort, ...chosen, dataDirectory },
      dependencies: { migrate, seedDevelopment, importDemonstrationBooks },
      reporter,
      record,
      signal,
      throwAway: true,
    });
    try {
      return await work(service.description, signal);
    } finally {
      await reporter.step('Stopped, and its data removed', () => service.stop());
    }
  } finally {
    remove();
  }
}

async function main(): Promise<void> {
  if (asksForHelp(process.argv.slice(2))) return console.log(describeUsage('npm run demo'));
  conclude(await runSteps());
}

/** The problems of the demonstration. */
async function runSteps(): Promise<string[]> {
  const settings = readSettings(process.argv.slice(2), process.env);
  // Made pictures outlive a throw-away service.
  const madeDirectory = join(settings.dataDirectory, 'demo');
  const running = findRunningService(settings.dataDirectory);
  if (running) {
    reporter.say(`Using the service that runs at ${running.apiUrl}`);
    const interruption = listenForStop({ onFirst: () => {}, onSecond: () => {} });
    return demonstrate(madeDirectory, running, interruption);
  }
  reporter.say('No service runs here: starting one for the demonstration.');
  return withThrowAwayService(settings, (service, signal) => demonstrate(madeDirectory, service, signal));
}

function conclude(problems: readonly string[]): void {
  for (const problem of problems) console.error(`FAILED  ${problem}`);
  console.log(
    problems.length === 0
      ? '\nEverything happened as promised. Readings that differ from the truth are marked above; see the model card.'
      : '',
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}

try {
  await main();
} catch (error) {
  console.error(`\nThe demonstration could not be finished: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

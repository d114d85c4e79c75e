/** `npm start`: the whole service on this machine, until Ctrl-C. */
import { migrate } from '../platform/database/migrate.ts';
import { FolderLockedError } from './folder-lock.ts';
import { createReporter } from './reporter.ts';
import { importDemonstrationBooks, seedDevelopment } from './seed.ts';
import { processRecordOf, startService } from './service.ts';
import { asksForHelp, describeUsage, readSettings } from './settings.ts';
import { listenForStop } from './stop-signals.ts';
import { describeService } from './welcome.ts';

async function main(): Promise<void> {
  const flags = process.argv.slice(2);
  if (asksForHelp(flags)) return console.log(describeUsage('npm start'));
  const settings = readSettings(flags, process.env);
  const reporter = createReporter((line) => console.log(line));
  const record = processRecordOf(settings.dataDirectory);
  const stopSignal = listenForStop({
    onFirst: () => reporter.say('\nStopping; once more Ctrl-C stops at once.'),
    onSecond: () => record.killAll(),
  });

  reporter.say(`Starting the Vehicle Inference Service from ${settings.dataDirectory}`);
  const service = await startService({
    settings,
    reporter,
    record,
    dependencies: { migrate, seedDevelopment, importDemonstrationBooks },
    signal: stopSignal,
  });
  reporter.say(describeService(service.description));
  const stopped = new Promise<null>((resolve) => {
    if (stopSignal.aborted) resolve(null);
    stopSignal.addEventListener('abort', () => resolve(null));
  });
  const failure = await Promise.race([stopped, service.failed]);
  if (failure) console.error(`\n${failure.message}\nStopping the service.`);
  await service.stop();
  reporter.say('Stopped.');
  process.exitCode = failure ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (error instanceof FolderLockedError) {
    console.error(
      `The service already runs here: process ${error.pid}. Stop it with Ctrl-C in its terminal or \`kill ` +
        `${error.pid}\`, or start another one with DATA_DIRECTORY set to another folder.`,
    );
    process.exitCode = 1;
  } else if (error instanceof Error && error.name === 'AbortError') {
    console.log('Stopped.');
  } else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

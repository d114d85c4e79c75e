import { type DestinationStream, type Logger, pino } from 'pino';
import { withoutSecrets } from './domain/without-secrets.ts';
import { currentLogFields } from './observability/log-context.ts';

/** Flushed at once, so that the last lines of a process are not lost. */
const standardOutput = (): DestinationStream => pino.destination({ fd: 1, sync: true });

/** Structured lines. Secrets are not passed to it; what it takes out of a line is a second line of defence. */
export function createLogger(processName: string, level: string, output = standardOutput()): Logger {
  return pino(
    {
      level,
      base: { process: processName, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: currentLogFields,
      redact: {
        paths: ['*.authorization', '*.Authorization', '*.secret', '*.secrets', '*.headers'],
        censor: '[redacted]',
      },
    },
    { write: (line: string) => output.write(withoutSecrets(line)) },
  );
}

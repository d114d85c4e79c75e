import { type DestinationStream, type Logger, pino } from 'pino';
import { currentLogFields } from './log-context.ts';
import { redactSecrets } from './redact-secrets.ts';

/** Flushed at once, so that a process loses no last lines. */
const standardOutput = (): DestinationStream => pino.destination({ fd: 1, sync: true });

interface LoggerOptions {
  /** The trace of the current work, added to its log lines. */
  activeTraceId?: () => string | undefined;
  output?: DestinationStream;
}

/** Logs structured lines. Callers pass no secrets; the redaction is a second line of defence. */
export function createLogger(
  processName: string,
  level: string,
  { activeTraceId, output = standardOutput() }: LoggerOptions = {},
): Logger {
  return pino(
    {
      level,
      base: { process: processName, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: () => {
        const traceId = activeTraceId?.();
        return { ...currentLogFields(), ...(traceId !== undefined && { traceId }) };
      },
      redact: {
        paths: ['*.authorization', '*.Authorization', '*.secret', '*.secrets', '*.headers'],
        censor: '[redacted]',
      },
    },
    { write: (line: string) => output.write(redactSecrets(line)) },
  );
}

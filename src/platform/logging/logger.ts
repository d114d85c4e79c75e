import { type DestinationStream, type Logger, pino } from 'pino';
import { currentLogFields } from './log-context.ts';
import { redactSecrets } from './redact-secrets.ts';

/** Lines that cannot be written, as to a file on a full disk, wait up to this size, and are then lost. */
const UNWRITTEN_BYTES = 1024 * 1024;

/** Flushed at once, so that a process loses no last lines. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: UNWRITTEN_BYTES });
  // Otherwise whoever logs would fail, and the process end.
  output.on('error', () => {});
  return output;
}

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

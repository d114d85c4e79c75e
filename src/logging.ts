import { type Logger, pino } from 'pino';

/** Structured lines on standard output. Secrets are not passed to it; the paths below are a second line of defence. */
export function createLogger(processName: string, level: string): Logger {
  return pino({
    level,
    base: { process: processName, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['*.authorization', '*.Authorization', '*.secret', '*.secrets', '*.headers'],
      censor: '[redacted]',
    },
  });
}

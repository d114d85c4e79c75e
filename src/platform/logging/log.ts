import type { Logger } from 'pino';

/** The part of a pino logger that most code needs. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Of `pg`, which gives these errors no code. */
const CONNECTION_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|is not queryable/;

/**
 * Whether PostgreSQL is away or overloaded: classes 08 (connection), 53 (resources), 57P (operator intervention), 57014 (a
 * statement cancelled for its time), sockets, and connections or replies that did not come in time.
 */
export function isConnectionLoss(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as Error & { code?: unknown };
  if (typeof code === 'string' && /^(?:08|53|57P|57014)|^E(?:CONN|PIPE|TIMEDOUT|NOTFOUND)/.test(code)) return true;
  if (CONNECTION_MESSAGES.test(thrown.message)) return true;
  return isReplyTimeout(thrown) || isConnectionLoss(thrown.cause);
}

/** Whether `pg` has given up waiting for the reply to a statement. */
export function isReplyTimeout({ message }: Error): boolean {
  return message === 'Query read timeout';
}

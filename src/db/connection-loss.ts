/** PostgreSQL away or overloaded: classes 08 (connection), 53 (resources), 57P (operator intervention) and sockets. */
export function isConnectionLoss(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as Error & { code?: unknown };
  if (typeof code === 'string' && /^(?:08|53|57P)|^E(?:CONN|PIPE|TIMEDOUT|NOTFOUND)/.test(code)) return true;
  if (/Connection terminated|timeout exceeded when trying to connect/.test(thrown.message)) return true;
  return isConnectionLoss(thrown.cause);
}

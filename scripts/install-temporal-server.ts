/**
 * `node scripts/install-temporal-server.ts`: builds Temporal's server, as it runs in production, and its schema tool with Go
 * into the user's cache, unless they are there already: some six minutes on two cores. `scripts/temporal-server.ts`
 * and the benchmark's measure `temporal` need it.
 */
import { type GoProgram, goProgramDirectory, installGoProgram, isGoProgramInstalled } from './go-program.ts';

/** The version that docker-compose.yml runs (test/deploy/compose.test.ts compares them). */
export const TEMPORAL_SERVER: GoProgram = {
  name: 'temporal-server',
  version: '1.31.0',
  packages: {
    'temporal-server': 'go.temporal.io/server/cmd/server',
    'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
  },
};

export const isTemporalServerInstalled = (): boolean => isGoProgramInstalled(TEMPORAL_SERVER);

/** The folder of both programs. @throws when they are not installed. */
export function requireTemporalServer(): string {
  if (!isTemporalServerInstalled())
    throw new Error("Temporal's server is not installed: `node scripts/install-temporal-server.ts` builds it.");
  return goProgramDirectory(TEMPORAL_SERVER);
}

if (import.meta.main) installGoProgram(TEMPORAL_SERVER);

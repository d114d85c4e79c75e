/**
 * Records the supervisor's processes on disk, in `processes.json`. A supervisor killed with -9 can stop nothing; the next one
 * finds the orphans here and stops them before it starts its own processes on the same files.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { identifyProcess, isRunning, type ProcessIdentity, signalProcess, waitForEnd } from './process-identity.ts';

export interface RecordedProcess extends ProcessIdentity {
  name: string;
}

export class ProcessRecord {
  readonly #path: string;
  #processes: RecordedProcess[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  add(name: string, pid: number): void {
    const identity = identifyProcess(pid);
    if (!identity) return;
    this.#processes.push({ name, ...identity });
    this.#write();
  }

  remove(pid: number): void {
    this.#processes = this.#processes.filter((process) => process.pid !== pid);
    this.#write();
  }

  /** Kills all of them at once, with their children. */
  killAll(): void {
    for (const { pid } of this.#processes) {
      try {
        // Each leads a group of its own (program.ts).
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }

  #write(): void {
    // Written completely and moved into place: a kill in between leaves the old list, never a partial one.
    const temporaryPath = `${this.#path}.new`;
    try {
      writeFileSync(temporaryPath, `${JSON.stringify(this.#processes, null, 2)}\n`, { mode: 0o600 });
      renameSync(temporaryPath, this.#path);
    } catch {
      // A full disk must not take the supervisor down. The next write has the whole list.
    }
  }
}

/** The processes of an earlier supervisor that still run. */
export function findOrphans(path: string): RecordedProcess[] {
  let recorded: RecordedProcess[];
  try {
    recorded = JSON.parse(readFileSync(path, 'utf8')) as RecordedProcess[];
  } catch {
    return [];
  }
  return recorded.filter(isRunning);
}

/** Stops the processes of an earlier supervisor in parallel: asks each, and kills it after the timeout. */
export async function stopOrphans(orphans: RecordedProcess[], timeoutMs = 5_000): Promise<void> {
  await Promise.all(
    orphans.map(async (orphan) => {
      // On SIGINT PostgreSQL ends its sessions and stops; on SIGTERM it would wait for its clients.
      signalProcess(orphan, 'SIGINT');
      if (await waitForEnd(orphan, timeoutMs)) return;
      signalProcess(orphan, 'SIGKILL');
      await waitForEnd(orphan, timeoutMs);
    }),
  );
}

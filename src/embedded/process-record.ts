/**
 * What the supervisor started, on disk: `processes.json`. A supervisor killed with -9 can stop nothing; the next one
 * finds its children here and stops them before it starts its own on the same files.
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

  /** Kills all of them, and what they started, at once. */
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
    // Written whole and moved into place: a kill in between leaves the old list, never half a one.
    const temporaryPath = `${this.#path}.new`;
    writeFileSync(temporaryPath, `${JSON.stringify(this.#processes, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporaryPath, this.#path);
  }
}

/** The processes of an earlier supervisor which still run. */
export function findOrphans(path: string): RecordedProcess[] {
  let recorded: RecordedProcess[];
  try {
    recorded = JSON.parse(readFileSync(path, 'utf8')) as RecordedProcess[];
  } catch {
    return [];
  }
  return recorded.filter(isRunning);
}

/** Stops processes of an earlier supervisor, all at once: each is asked and, after the time given, killed. */
export async function stopOrphans(orphans: RecordedProcess[], timeoutMs = 5_000): Promise<void> {
  await Promise.all(
    orphans.map(async (orphan) => {
      // PostgreSQL takes SIGINT for "end the sessions, then stop"; with SIGTERM it would wait for its clients.
      signalProcess(orphan, 'SIGINT');
      if (await waitForEnd(orphan, timeoutMs)) return;
      signalProcess(orphan, 'SIGKILL');
      await waitForEnd(orphan, timeoutMs);
    }),
  );
}

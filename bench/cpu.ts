/** CPU time of processes and their descendants, from /proc. Null on systems without it (macOS). */
import { readdirSync, readFileSync } from 'node:fs';

/** Seconds of CPU by process name. */
export type CpuSeconds = Readonly<Record<string, number>>;

/** The unit of Linux's times on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  parentPid: number;
  /** Its own, including its ended children. */
  seconds: number;
}

/**
 * CPU time so far of each process with its descendants. This process counts alone, including only children that have
 * ended: the running ones have names of their own.
 */
export function readCpuSeconds(pids: Readonly<Record<string, number>>): CpuSeconds | null {
  if (process.platform !== 'linux') return null;
  const all = readAllProcesses();
  const children = Map.groupBy(all.keys(), (pid) => all.get(pid)?.parentPid ?? 0);
  const total = (pid: number): number => {
    const own = all.get(pid)?.seconds ?? 0;
    if (pid === process.pid) return own;
    return (children.get(pid) ?? []).reduce((sum, child) => sum + total(child), own);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, total(pid)]));
}

export function subtractCpu(later: CpuSeconds | null, earlier: CpuSeconds | null): CpuSeconds | null {
  if (!later || !earlier) return null;
  return Object.fromEntries(Object.entries(later).map(([name, seconds]) => [name, seconds - (earlier[name] ?? 0)]));
}

/** CPU time of all programs of the machine since its boot. */
export function readMachineCpuSeconds(): number | null {
  if (process.platform !== 'linux') return null;
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = first.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softIrq) / TICKS_PER_SECOND;
}

function readAllProcesses(): Map<number, ProcessTimes> {
  const processes = new Map<number, ProcessTimes>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const times = readTimes(entry);
    if (times) processes.set(Number(entry), times);
  }
  return processes;
}

function readTimes(pid: string): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may itself hold spaces and brackets. What follows is fields 3, 4, … of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parentPid: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    // It has ended since the folder was listed.
    return null;
  }
}

/** On what, and beside what else, the figures were measured. */
import { cpus, loadavg, totalmem } from 'node:os';
import { readCpuSeconds, readMachineCpuSeconds } from './cpu.ts';

export interface Machine {
  processor: string;
  cores: number;
  memoryGigabytes: number;
  system: string;
  node: string;
  /** Of the minute before the run. */
  loadAverage: number;
  /** Cores that other programs kept busy during the run; null where that can't be told. */
  coresUsedByOthers: number | null;
}

/** Call it at the start; the function it answers, called when every process has ended, describes the whole run. */
export function watchMachine(): () => Machine {
  const startedAtMs = performance.now();
  const loadAverage = loadavg()[0] as number;
  const machineBefore = readMachineCpuSeconds();
  const ownBefore = ownCpuSeconds();
  return () => {
    const seconds = (performance.now() - startedAtMs) / 1000;
    const machineAfter = readMachineCpuSeconds();
    const others =
      machineAfter === null || machineBefore === null
        ? null
        : (machineAfter - machineBefore - (ownCpuSeconds() - ownBefore)) / seconds;
    const [first] = cpus();
    return {
      processor: first?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGigabytes: Math.round(totalmem() / 2 ** 30),
      system: `${process.platform} ${process.arch}`,
      node: process.version,
      loadAverage,
      coresUsedByOthers: others === null ? null : Math.max(0, others),
    };
  };
}

/** Of this process and of all its children that have ended. */
function ownCpuSeconds(): number {
  return readCpuSeconds({ own: process.pid })?.own ?? 0;
}

export function describeMachine(machine: Machine): string {
  const { processor, cores, memoryGigabytes, system, node, loadAverage, coresUsedByOthers } = machine;
  const shared =
    coresUsedByOthers === null
      ? 'what other programs used is not known here'
      : coresUsedByOthers < 0.05
        ? 'nothing else ran'
        : `SHARED: other programs kept ${coresUsedByOthers.toFixed(1)} of ${cores} cores busy meanwhile`;
  return (
    `${cores} cores (${processor}), ${memoryGigabytes} GB, ${system}, Node ${node.slice(1)}; ` +
    `load average before ${loadAverage.toFixed(1)}; ${shared}.`
  );
}

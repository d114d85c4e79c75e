/** Describes the machine and its load during the measurement. */
import { cpus, loadavg, totalmem } from 'node:os';
import { readCpuSeconds, readMachineCpuSeconds } from './cpu.ts';

export interface Machine {
  processor: string;
  cores: number;
  memoryGigabytes: number;
  system: string;
  node: string;
  /** Load average of the minute before the run. */
  loadAverage: number;
  /** Cores that other programs kept busy during the run; null if unknown. */
  coresUsedByOthers: number | null;
}

/** Call it at the start; call the returned function when every process has ended, to describe the whole run. */
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

/** CPU time of this process and its ended children. */
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

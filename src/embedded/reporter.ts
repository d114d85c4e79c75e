/** Reports the start of the service to a person: one line per step, and a sign of life for slow steps. */
export interface Reporter {
  say: (line: string) => void;
  /** Runs the step and reports its end; until then it reports every few seconds that the step still runs. */
  step: <Result>(label: string, work: () => Promise<Result>) => Promise<Result>;
}

const FIRST_SIGN_MS = 3_000;
const NEXT_SIGNS_MS = 10_000;

export function createReporter(write: (line: string) => void): Reporter {
  return {
    say: write,
    async step(label, work) {
      const startedAtMs = performance.now();
      const seconds = () => ((performance.now() - startedAtMs) / 1000).toFixed(1);
      let timer = setTimeout(function sign() {
        write(`  …  ${label} (${seconds()} s)`);
        timer = setTimeout(sign, NEXT_SIGNS_MS);
      }, FIRST_SIGN_MS);
      try {
        const result = await work();
        write(`  ok ${label} (${seconds()} s)`);
        return result;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Runs the tasks of each key one after the other; tasks of different keys run side by side. */
export function createOneAtATime() {
  const latest = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const before = latest.get(key);
    const running = before === undefined ? task() : before.then(task, task);
    latest.set(key, running);
    try {
      return await running;
    } finally {
      if (latest.get(key) === running) latest.delete(key);
    }
  };
}

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { problemInLog } from '../../src/embedded/problem-in-log.ts';
import { createLogger } from '../../src/platform/logging/logger.ts';

/** The line that a worker writes. */
function lineOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const output = new PassThrough();
  log(createLogger('worker:inference', 'info', { output }));
  return String(output.read());
}

it('a model that cannot be used is named with the reason', () => {
  const damaged = lineOf((logger) =>
    logger.error(
      { model: 'tire-reader', release: '2026-11-22', reason: 'model.onnx is truncated' },
      'a damaged model release is skipped',
    ),
  );
  expect(problemInLog(damaged)).toBe(
    'tire-reader@2026-11-22: a damaged model release is skipped: model.onnx is truncated',
  );
  const broken = lineOf((logger) =>
    logger.error({ endpoint: 'vin.read', reason: 'no such export' }, 'the pipeline of an endpoint cannot be loaded'),
  );
  expect(problemInLog(broken)).toBe('vin.read: the pipeline of an endpoint cannot be loaded: no such export');
});

it('what can be installed is named with its command', () => {
  const line = lineOf((logger) =>
    logger.warn({ reason: 'it is not there', install: 'npm run video:install' }, 'videos cannot be decoded'),
  );
  expect(problemInLog(line)).toBe('videos cannot be decoded: it is not there; npm run video:install installs it');
});

it('everything else stays in the log', () => {
  const lines = [
    lineOf((logger) => logger.info({ reason: 'none' }, 'worker ready')),
    lineOf((logger) => logger.warn({ endpoint: 'engine.detect', reason: 'no model' }, 'an endpoint cannot be served')),
    'a line of another program with a "reason"',
  ];
  expect(lines.map(problemInLog)).toEqual([null, null, null]);
});

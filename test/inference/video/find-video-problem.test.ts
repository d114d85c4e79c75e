import { expect, test } from 'vitest';
import { findVideoProblem } from '../../../src/inference/video/find-video-problem.ts';

// Where the package is missing: test/deploy/image.test.ts.
test('a checkout decodes videos', async () => {
  expect(await findVideoProblem()).toBeNull();
});

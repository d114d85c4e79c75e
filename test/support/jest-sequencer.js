/**
 * The rooms with the longest files come first, so that none of them runs on alone at the end: a fresh clone has no
 * durations to go by, and the size of a file says little about them.
 */
import TestSequencer from '@jest/test-sequencer';

/** Longest first. Within a room, and for the files of no such room, jest's own order holds: the largest file first. */
const SLOW_ROOMS = [
  '/test/faults/',
  '/test/e2e/',
  '/test/docs/readme-tour',
  '/test/workers/',
  '/test/workflows/',
  '/test/inference/runtime/',
  '/test/contract/',
  '/test/observability/',
  '/test/embedded/',
  '/test/credits/credits-main',
  '/test/sdk-licenses/subscriptions-main',
  '/test/api/storage-failures',
  '/test/api/database-failures',
  '/test/inference/',
  '/test/replay/',
];

/** @param {{ path: string }} test */
function rankOf({ path }) {
  const rank = SLOW_ROOMS.findIndex((room) => path.includes(room));
  return rank === -1 ? SLOW_ROOMS.length : rank;
}

export default class SlowRoomsFirst extends TestSequencer {
  /**
   * @override
   * @param {Parameters<TestSequencer['sort']>[0]} tests
   */
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

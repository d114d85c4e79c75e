/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: './test/support/jest-environment.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': './test/support/jest-transform.js' },
  // The default also covers JavaScript of the modules folder's relatives; types are all there is to remove here.
  transformIgnorePatterns: ['/node_modules/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts'],
  // Real servers on a laptop beside real inference: generous, because a time-out here means a hang, not slowness.
  testTimeout: 240_000,
  testSequencer: './test/support/jest-sequencer.js',
  // For two cores: about half of the long files' time is spent waiting for time-outs of the service itself.
  maxWorkers: 3,
  // One crashed worker must not take the results of the other files along.
  workerIdleMemoryLimit: '1GB',
};

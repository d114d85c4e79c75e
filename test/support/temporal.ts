/** Creates a Temporal namespace for one test file, so that task queues and workflow ids need no prefixes. */
import { randomBytes } from 'node:crypto';
import { ensureNamespace } from '../../src/embedded/temporal.ts';
import { requiredVariable } from './environment.ts';

export interface TestNamespace {
  address: string;
  namespace: string;
}

/** Creates the namespace with the search attributes of jobs, in some 40 ms on the development server and some 2 s on a production server. It ends with the server. */
export async function createTestNamespace(): Promise<TestNamespace> {
  const address = requiredVariable('TEST_TEMPORAL_ADDRESS');
  const namespace = `test-${randomBytes(8).toString('hex')}`;
  await ensureNamespace(address, namespace);
  return { address, namespace };
}

/** An impure workflow; the workflow-bundle test proves that it is refused. */
import { readFileSync } from 'node:fs';

export async function readsFiles(): Promise<string> {
  return readFileSync('/etc/hostname', 'utf8');
}

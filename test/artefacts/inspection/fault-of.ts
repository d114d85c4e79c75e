import { FileFault } from '../../../src/artefacts/inspection/file-fault.ts';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';

/** Why a file is not kept, or null. */
export function faultOf(file: Uint8Array, mediaType: string): string | null {
  try {
    inspectArtefact(file, mediaType);
    return null;
  } catch (error) {
    if (error instanceof FileFault) return error.message;
    throw error;
  }
}

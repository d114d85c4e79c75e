import { examineMadeFile } from '../../../src/domain/made-files/examine-made-file.ts';
import { FileFault } from '../../../src/domain/made-files/file-fault.ts';

/** Why a file is not kept, or null. */
export function faultOf(file: Uint8Array, mediaType: string): string | null {
  try {
    examineMadeFile(file, mediaType);
    return null;
  } catch (error) {
    if (error instanceof FileFault) return error.message;
    throw error;
  }
}

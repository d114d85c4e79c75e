/** Why a file is refused: it contains more than it may, or is incomplete. */
export class FileFault extends Error {
  override readonly name = 'FileFault';

  /** @param fault such as "is truncated" */
  constructor(fault: string) {
    super(`The file ${fault}.`);
  }
}

export const TRUNCATED = 'is truncated';
export const BYTES_AFTER_END = 'has bytes after its end';

/** More than any encoder writes. A bound keeps the inspection short. */
const MOST_PARTS = 20_000;

/** @throws FileFault when a file has more parts than any encoder writes */
export function holdToBound(parts: number): void {
  if (parts > MOST_PARTS) throw new FileFault('has too many parts');
}

/** A slice of a file. @throws FileFault when the file is too short */
export function take(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new FileFault(TRUNCATED);
  return bytes.subarray(at, at + length);
}

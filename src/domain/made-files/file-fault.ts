/** Why a file is not kept: what it has beyond what it shows, or lacks. */
export class FileFault extends Error {
  override readonly name = 'FileFault';

  /** @param fault such as "has no end" */
  constructor(fault: string) {
    super(`The file ${fault}.`);
  }
}

export const NO_END = 'has no end';
export const BEHIND_THE_END = 'carries bytes behind its end';

/** More parts than any encoder writes would keep other requests waiting. */
const MOST_PARTS = 20_000;

/** @throws FileFault when a file has had so many parts that it is none of an encoder */
export function holdToBound(parts: number): void {
  if (parts > MOST_PARTS) throw new FileFault('has too many parts');
}

/** Part of a file. @throws FileFault when the file ends before */
export function take(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new FileFault(NO_END);
  return bytes.subarray(at, at + length);
}

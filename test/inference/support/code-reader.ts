/** A process in the sandbox that looks for codes in plain pictures of the sizes that it is sent. */
import { readCodes } from '../../../src/inference/toolkit/codes/read-codes.ts';

process.on('message', ({ width, height }: { width: number; height: number }) => {
  void readCodes({ width, height, pixels: new Uint8Array(3 * width * height) }).then((codes) => process.send?.(codes));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

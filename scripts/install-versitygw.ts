/**
 * `node scripts/install-versitygw.ts`: builds versitygw, a server of the S3 protocol, with Go into the user's cache, unless
 * it is there already. Tests of the S3 store are skipped without it.
 */
import { join } from 'node:path';
import { type GoProgram, goProgramDirectory, installGoProgram } from './go-program.ts';

const VERSITYGW: GoProgram = {
  name: 'versitygw',
  version: '1.8.0',
  packages: { versitygw: 'github.com/versity/versitygw/cmd/versitygw' },
};

/** The program, installed or not. */
export const VERSITYGW_PATH = join(goProgramDirectory(VERSITYGW), 'versitygw');

if (import.meta.main) installGoProgram(VERSITYGW);

/**
 * TypeScript for jest as Node itself runs it: types are replaced by blanks, so lines and columns stay as written and
 * no source map is needed.
 */
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** @param {string} sourceText */
function transformSource(sourceText) {
  return { code: stripTypeScriptTypes(sourceText, { mode: 'strip' }) };
}

export default {
  process: transformSource,
  /**
   * With `instrument` in the key a run with coverage doesn't reuse files cached without it (coverage would read 0 %).
   *
   * @param {string} sourceText
   * @param {string} sourcePath
   * @param {{ instrument: boolean, configString: string }} options
   */
  getCacheKey(sourceText, sourcePath, { instrument, configString }) {
    return createHash('sha256')
      .update([process.version, String(instrument), configString, sourcePath, sourceText].join('\0'))
      .digest('hex');
  },
};

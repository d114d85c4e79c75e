/**
 * Pictures that pipelines make: pixels in the pipeline's result, then a file that leaves the child process, finally an
 * artefact.
 */

import type { ArtefactFile, WriteArtefact } from '../../../artefacts/artefact-writer.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../contracts/media-limits.ts';
import type { OutputFormat } from '../../../contracts/vocabulary/renders.ts';
import { replaceObjects } from '../../../platform/replace-objects.ts';

/** Placeholder in a pipeline's result for its artefact. */
export interface MadePicture {
  object: 'made_picture';
  width: number;
  height: number;
  /** 1: grey, 3: sRGB, 4: sRGB and opacity. */
  channels: 1 | 3 | 4;
  /** [height, width, channels], 0 to 255. */
  pixels: Uint8Array;
  /** Format of the file. A JPEG has no alpha channel. */
  format: OutputFormat;
}

interface MadeFile extends ArtefactFile {
  object: 'made_file';
}

/** Pixels → the file, in the picture's format. */
export type EncodePicture = (picture: MadePicture) => Promise<Uint8Array>;

/** In the child process: replaces pictures by encoded files. */
export function encodePictures(result: unknown, encode: EncodePicture): Promise<unknown> {
  return replaceObjects(result, (found) => (isMadePicture(found) ? toFile(found, encode) : null));
}

/** In the worker: stores the files and replaces them by artefacts. */
export function storeMadeFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  return replaceObjects(result, (found) => (isMadeFile(found) ? writeArtefact(found) : null));
}

async function toFile(picture: MadePicture, encode: EncodePicture): Promise<MadeFile> {
  const { width, height, format: extension } = picture;
  const content = await encode(picture);
  const mediaType = ARTEFACT_MEDIA_TYPES[extension] ?? '';
  return { object: 'made_file', content, mediaType, extension, width, height };
}

function isMadePicture(value: object): value is MadePicture {
  return 'object' in value && value.object === 'made_picture';
}

function isMadeFile(value: object): value is MadeFile {
  return 'object' in value && value.object === 'made_file';
}

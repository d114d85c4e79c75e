/**
 * Pictures that pipelines make: pixels in a result while it is made, a file on its way out of the child process, and in
 * the end an artefact.
 */
import { ARTEFACT_MEDIA_TYPES } from '../contracts/media-limits.ts';
import type { OutputFormat } from '../contracts/vocabulary/renders.ts';
import { replaceObjects } from '../endpoints/fixture-placeholders.ts';
import type { ArtefactFile, WriteArtefact } from './artefacts.ts';

/** Stands in the result of a pipeline where its artefact will be. */
export interface MadePicture {
  object: 'made_picture';
  width: number;
  height: number;
  /** 1: grey, 3: sRGB, 4: sRGB and opacity. */
  channels: 1 | 3 | 4;
  /** [height, width, channels], 0 to 255. */
  pixels: Uint8Array;
  /** Of the file. A JPEG has no opacity. */
  format: OutputFormat;
}

interface MadeFile extends ArtefactFile {
  object: 'made_file';
}

/** Pixels → the file, in the picture's format. */
export type EncodePicture = (picture: MadePicture) => Promise<Uint8Array>;

/** In the child process: puts files in the place of pictures. */
export function encodePictures(result: unknown, encode: EncodePicture): Promise<unknown> {
  return replaceObjects(result, (found) => (isMadePicture(found) ? toFile(found, encode) : null));
}

/** In the worker: stores the files and puts artefacts in their place. */
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

/**
 * Pictures that pipelines make: pixels in a result while it is made, a file on its way out of the child process, and in
 * the end an artefact.
 */
import { replaceObjects } from '../endpoints/fixture-placeholders.ts';
import type { ArtefactFile, WriteArtefact } from './artefacts.ts';

/** Stands in the result of a pipeline where its artefact will be. */
export interface MadePicture {
  object: 'made_picture';
  width: number;
  height: number;
  /** [height, width], 0 black to 255 white. */
  grey: Uint8Array;
}

interface MadeFile extends ArtefactFile {
  object: 'made_file';
}

/** PNG of a grey picture, row by row. */
export type EncodeGrey = (picture: Pick<MadePicture, 'width' | 'height' | 'grey'>) => Promise<Uint8Array>;

/** In the child process: puts files in the place of pictures. */
export function encodePictures(result: unknown, encode: EncodeGrey): Promise<unknown> {
  return replaceObjects(result, (found) => (isMadePicture(found) ? toFile(found, encode) : null));
}

/** In the worker: stores the files and puts artefacts in their place. */
export function storeMadeFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  return replaceObjects(result, (found) => (isMadeFile(found) ? writeArtefact(found) : null));
}

async function toFile(picture: MadePicture, encode: EncodeGrey): Promise<MadeFile> {
  const { width, height } = picture;
  const content = await encode(picture);
  return { object: 'made_file', content, mediaType: 'image/png', extension: 'png', width, height };
}

function isMadePicture(value: object): value is MadePicture {
  return 'object' in value && value.object === 'made_picture';
}

function isMadeFile(value: object): value is MadeFile {
  return 'object' in value && value.object === 'made_file';
}

/**
 * Pictures that pipelines make: pixels in the pipeline's result, then a file that leaves the child process, finally an
 * artefact. The pictures of a film become one file in between.
 */

import type { ArtefactFile, WriteArtefact } from '../../../artefacts/artefact-writer.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../../contracts/media-limits.ts';
import type { PictureEdit } from '../../../contracts/vocabulary/provenance.ts';
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
  /** What was done to the picture that was sent, in order; the file says so. */
  edits: readonly PictureEdit[];
}

/** A picture that is drawn when its file is written, so that a result of many pictures holds one at a time. */
export interface PictureToDraw {
  object: 'picture_to_draw';
  draw(): Promise<MadePicture>;
}

/** Placeholder for an artefact of JSON. */
export interface MadeDocument {
  object: 'made_document';
  value: object;
}

/** Placeholder for a film: an MP4 of pictures, each cross-faded into the next. */
export interface FilmToMake {
  object: 'film_to_make';
  /** Of all its pictures. */
  width: number;
  height: number;
  pictures: readonly PictureToDraw[];
  framesPerSecond: number;
  /** Frames from the start of one picture to the start of the next. */
  stepFrames: number;
  /** Frames for which a picture and the next overlap. The last picture stays as much longer. */
  fadeFrames: number;
  /** What was done to the pictures; the file says so. */
  edits: readonly PictureEdit[];
}

/** A film as it leaves the child process: its pictures are drawn. */
export interface DrawnFilm extends Omit<FilmToMake, 'pictures'> {
  pictures: readonly ArtefactFile[];
}

interface MadeFile extends ArtefactFile {
  object: 'made_file';
}

/** Pixels → the file, in the picture's format. */
export type EncodePicture = (picture: MadePicture) => Promise<Uint8Array>;

/** In the child process: replaces pictures by encoded files. */
export function encodePictures(result: unknown, encode: EncodePicture): Promise<unknown> {
  return replaceObjects(result, (found) => {
    if (isMadePicture(found)) return toFile(found, encode);
    if (isPictureToDraw(found)) return found.draw().then((picture) => toFile(picture, encode));
    return isMadeDocument(found) ? toDocument(found) : null;
  });
}

/** In the worker: replaces films by their files. @param encode returns an MP4 */
export function encodeFilms(result: unknown, encode: (film: DrawnFilm) => Promise<Uint8Array>): Promise<unknown> {
  return replaceObjects(result, (found) =>
    isFilm(found) ? encode(found).then((mp4) => toFilmFile(found, mp4)) : null,
  );
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

function toDocument({ value }: MadeDocument): MadeFile {
  const content = new TextEncoder().encode(JSON.stringify(value));
  const mediaType = ARTEFACT_MEDIA_TYPES.json ?? '';
  return { object: 'made_file', content, mediaType, extension: 'json', width: null, height: null };
}

function toFilmFile({ width, height }: DrawnFilm, content: Uint8Array): MadeFile {
  return { object: 'made_file', content, mediaType: ARTEFACT_MEDIA_TYPES.mp4 ?? '', extension: 'mp4', width, height };
}

function isFilm(value: object): value is DrawnFilm {
  return 'object' in value && value.object === 'film_to_make';
}

function isPictureToDraw(value: object): value is PictureToDraw {
  return 'object' in value && value.object === 'picture_to_draw';
}

function isMadeDocument(value: object): value is MadeDocument {
  return 'object' in value && value.object === 'made_document';
}

function isMadePicture(value: object): value is MadePicture {
  return 'object' in value && value.object === 'made_picture';
}

function isMadeFile(value: object): value is MadeFile {
  return 'object' in value && value.object === 'made_file';
}

/** Pictures for requests. */
import sharp from 'sharp';

const grey = sharp({ create: { width: 48, height: 32, channels: 3, background: '#777777' } });

export const jpeg = await grey.clone().jpeg().toBuffer();
export const png = await grey.clone().png().toBuffer();
export const webp = await grey.clone().webp().toBuffer();
export const gif = await grey.clone().gif().toBuffer();

/** Starts like a JPEG and has exactly this many bytes. */
export function jpegOfSize(bytes: number): Buffer {
  const picture = Buffer.alloc(bytes);
  jpeg.copy(picture);
  return picture;
}

/** A JPEG that no other call returns. */
export function anotherJpeg(): Buffer {
  sequence += 1;
  return Buffer.concat([jpeg, Buffer.from(`picture ${sequence}`)]);
}

let sequence = 0;

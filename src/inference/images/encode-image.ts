/** Pixels → file. Runs in child processes only, where the decoder is. */
import sharp from 'sharp';
import type { EncodeGrey } from '../made-files.ts';

export const encodeGreyPng: EncodeGrey = ({ width, height, grey }) =>
  sharp(grey, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .png()
    .toBuffer();

/** Entry point of the process that makes previews: it decodes pictures of strangers, one at a time, and holds no secrets. */
import sharp from 'sharp';
import { decodeImage, restrictDecoder } from '../images/decode-image.ts';
import type { Preview, PreviewMessage, PreviewTask } from './messages.ts';

const QUALITY = 70;

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group: the parent decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

restrictDecoder();

process.on('message', (task: PreviewTask) => {
  void preview(task)
    .catch(() => null)
    .then((made) => send({ type: 'made', preview: made }));
});
send({ type: 'ready' });

function send(message: PreviewMessage): void {
  // A parent that is gone has nobody to tell; `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}

/** Upright, and without the metadata of its picture, which may say where it was taken. */
async function preview({ picture, size }: PreviewTask): Promise<Preview> {
  const { pixels, width, height } = await decodeImage(picture);
  const { data, info } = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .resize({ ...size, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
  return { jpeg: data, width: info.width, height: info.height };
}

/** Entry point of the preview process. It decodes untrusted pictures, one at a time, and holds no secrets. */
import sharp from 'sharp';
import { decodeImage, restrictDecoder } from '../../toolkit/images/decode-image.ts';
import type { Preview, PreviewMessage, PreviewTask } from './messages.ts';

const QUALITY = 70;

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group, but the parent decides when this process ends.
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
  // Without a parent, `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}

/** Upright and without the picture's metadata, which may contain a location. */
async function preview({ picture, size }: PreviewTask): Promise<Preview> {
  const { pixels, width, height } = await decodeImage(picture);
  const { data, info } = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .resize({ ...size, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
  return { jpeg: data, width: info.width, height: info.height, picture: { width, height } };
}

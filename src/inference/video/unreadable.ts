/** Why a video cannot be used, with advice for its sender. */
import { ServiceError } from '../../platform/service-error.ts';

/** 8K: 7,680 × 4,320 and what phones and cameras record of that size. */
export const VIDEO_PIXELS = 36_000_000;
/** Half an hour at 240 frames a second. */
export const VIDEO_FRAMES = 500_000;

const MESSAGES = {
  'not a video': 'The file is not an MP4, QuickTime or WebM video. Convert it to MP4 with H.264 and send it again.',
  damaged: 'The video cannot be decoded: the file is damaged or incomplete. Send the complete original file.',
  'cut off': 'The video is shorter than it states: the file is truncated. Send the complete original file.',
  'no picture': 'The file has no video track. Send the video with its picture.',
  codec: 'The video uses an unsupported codec. Convert it to H.264, HEVC, VP8, VP9 or AV1.',
  'too large':
    `The frames of the video are too large: width × height may be at most ${VIDEO_PIXELS.toLocaleString('en-US')} ` +
    'pixels. Send it at a lower resolution, such as 1,920 × 1,080.',
  'too long': `The video has more than ${VIDEO_FRAMES.toLocaleString('en-US')} frames. Send a shorter one.`,
  'too costly': 'Decoding the video needs too much memory. Send it at a lower resolution, such as 1,920 × 1,080.',
  'too slow': 'Decoding the video stalled. Convert it to MP4 with H.264 and send it again.',
} as const;

export function unreadable(why: keyof typeof MESSAGES, options: { cause?: unknown } = {}): ServiceError {
  return new ServiceError('input_unreadable', MESSAGES[why], { param: 'video', ...options });
}

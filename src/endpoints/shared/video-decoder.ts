/** Which endpoint says that videos can be decoded: every worker that announces it decodes them for other endpoints too. */
import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import { videoOnboard } from '../video.onboard/contract.ts';

/** What a request of pictures or a video requires. */
export function videoDecoderFor({ files }: ValidRequest): string[] {
  return files.some(({ mediaType }) => mediaType.startsWith('video/')) ? [videoOnboard.slug] : [];
}

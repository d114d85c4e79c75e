import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import { damageDetect } from '../damage.detect/contract.ts';
import { damageSeverity } from '../damage.severity/contract.ts';
import { pricingRepair } from '../pricing.repair/contract.ts';
import { vehiclePose } from '../vehicle.pose/contract.ts';
import { videoOnboard } from '../video.onboard/contract.ts';
import type { Parameters } from './request.ts';

export const STAGES = [
  'intake',
  'view_classification',
  'damage_detection',
  'severity_grading',
  'merge',
  'repair_estimate',
  'report',
] as const;

/** Key frames that are examined of a video: one a compass view. */
const FRAMES_OF_VIDEO = 8;

/** Credits of each stage: what its endpoint costs on the pictures, and on the key frames that the intake takes of videos. */
export function stagePrices({ parameters, files }: ValidRequest): Readonly<Record<string, number>> {
  const { include_repair_estimate, include_report } = parameters as Parameters;
  const videos = files.filter(({ mediaType }) => mediaType.startsWith('video/')).length;
  const images = files.length - videos;
  const views = images + videos * FRAMES_OF_VIDEO;
  return {
    intake: videos * videoOnboard.priceCredits,
    // The key frames of a video come with their view.
    view_classification: images * vehiclePose.priceCredits,
    damage_detection: views * damageDetect.priceCredits,
    severity_grading: views * damageSeverity.priceCredits,
    merge: 0,
    ...(include_repair_estimate !== false && { repair_estimate: pricingRepair.priceCredits }),
    ...(include_report !== false && { report: 0 }),
  };
}

export function priceOf(request: ValidRequest): number {
  return Object.values(stagePrices(request)).reduce((sum, price) => sum + price, 0);
}

/** One picture, and all else as it is by default. */
export const PLAINEST_PRICE = priceOf({ parameters: {}, files: [{ mediaType: 'image/jpeg' }] });

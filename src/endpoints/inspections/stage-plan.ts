import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../../contracts/run-bundle.ts';
import { TASK_QUEUES } from '../../contracts/task-queues.ts';
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

export type Stage = (typeof STAGES)[number];

/** Key frames examined per video: one per compass view. */
const FRAMES_OF_VIDEO = 8;
/** Batch sizes per activity: a lost worker repeats little, and the history of 200 pictures stays short. */
const VIEWS_PER_ACTIVITY = 20;
const FILES_PER_ACTIVITY = 20;
/** A video takes as long as many pictures. */
const FILES_PER_ACTIVITY_WITH_VIDEOS = 4;

/** Each stage costs its endpoint's price per picture and per key frame of a video. */
export function stagePlan({ parameters, files }: ValidRequest): PlannedStage[] {
  const { include_repair_estimate, include_report } = parameters as Parameters;
  const videos = files.filter(({ mediaType }) => mediaType.startsWith('video/')).length;
  const images = files.length - videos;
  const views = images + videos * FRAMES_OF_VIDEO;
  const ofEachView = (name: Stage, after: readonly Stage[], priceCredits: number): PlannedStage => ({
    name,
    after,
    isOptional: false,
    units: { foundBy: 'intake' },
    unitName: 'views',
    unitsPerActivity: VIEWS_PER_ACTIVITY,
    taskQueue: TASK_QUEUES.inferenceGpu,
    priceCredits,
  });
  const ofAllViews = (name: Stage, after: readonly Stage[], rest: Partial<PlannedStage> = {}): PlannedStage => ({
    name,
    after,
    isOptional: false,
    units: 1,
    unitName: 'vehicles',
    unitsPerActivity: 1,
    taskQueue: TASK_QUEUES.inferenceHeavy,
    priceCredits: 0,
    ...rest,
  });
  return [
    {
      name: 'intake',
      after: [],
      isOptional: false,
      units: files.length,
      unitName: 'files',
      unitsPerActivity: videos > 0 ? FILES_PER_ACTIVITY_WITH_VIDEOS : FILES_PER_ACTIVITY,
      taskQueue: TASK_QUEUES.inferenceHeavy,
      ...(videos > 0 && { requires: videoOnboard.slug }),
      priceCredits: videos * videoOnboard.priceCredits,
    },
    // Key frames arrive with their view, so only pictures are classified.
    ofEachView('view_classification', ['intake'], images * vehiclePose.priceCredits),
    ofEachView('damage_detection', ['intake'], views * damageDetect.priceCredits),
    ofEachView(
      'severity_grading',
      ['intake', 'view_classification', 'damage_detection'],
      views * damageSeverity.priceCredits,
    ),
    ofAllViews('merge', ['intake', 'view_classification', 'damage_detection', 'severity_grading']),
    ...(include_repair_estimate === false
      ? []
      : [ofAllViews('repair_estimate', ['merge'], { isOptional: true, priceCredits: pricingRepair.priceCredits })]),
    ...(include_report === false
      ? []
      : [
          ofAllViews(
            'report',
            [
              'intake',
              'view_classification',
              'damage_detection',
              'merge',
              ...(include_repair_estimate === false ? [] : (['repair_estimate'] as const)),
            ],
            { isOptional: true },
          ),
        ]),
  ];
}

export function priceOf(request: ValidRequest): number {
  return stagePlan(request).reduce((sum, { priceCredits }) => sum + priceCredits, 0);
}

/** Price of a single-picture request with default parameters. */
export const PLAINEST_PRICE = priceOf({ parameters: {}, files: [{ mediaType: 'image/jpeg' }] });

/**
 * What an endpoint's `pipeline.ts` exports. A pipeline runs in a child process that has loaded the models and decodes
 * pictures. It imports only pure functions of this toolkit, so the worker can import it too.
 */
import type { ServedValues } from '../../contracts/inference-backend.ts';
import type { JobInput } from '../../contracts/job.ts';
import type { OutputFormat } from '../../contracts/vocabulary/renders.ts';
import type { ModelManifest } from '../models/manifest.ts';
import type { Model } from '../models/model.ts';
import type { RgbImage } from './images/rgb-image.ts';

/** A picture of a request. */
export interface Picture {
  /** Format of the file. */
  format: OutputFormat;
  /** Only for a frame of a video: milliseconds from the start of the video. */
  timeOffsetMs?: number;
  /**
   * 8-bit sRGB, upright. Decodes on each call, so that a pipeline of many pictures holds one at a time, 150 MB at most.
   * @throws ServiceError `input_unreadable`
   */
  decode(): Promise<RgbImage>;
}

export interface PipelineInput {
  /** The request's pictures, in order; of a video, sharp frames in the order of time. */
  pictures: readonly Picture[];
  /** Validated parameters of the request, with defaults filled in. */
  parameters: Readonly<Record<string, unknown>>;
}

export interface PipelineDefinition {
  /** Values of `task` in the `model.json` of its models. Models named in their `uses` are loaded with them. */
  readonly tasks: readonly string[];
  /**
   * Called once per child process, before it takes work.
   * @throws Error that names the field missing from `model.json`
   */
  create(model: Model): RunnablePipeline;
  /** Replaces parameters that name earlier jobs by those jobs' results. Runs in the worker. */
  withReferences?(
    parameters: PipelineInput['parameters'],
    readResult: (jobId: string) => Promise<unknown>,
  ): Promise<PipelineInput['parameters']>;
  /** Files of those jobs that become pictures of the pipeline, after those of the request. */
  furtherInputs?(parameters: PipelineInput['parameters']): readonly JobInput[];
  /** What a model serves of the endpoint's `modelParameters`. Without it every value. */
  servedValues?: (manifest: ModelManifest) => ServedValues;
  /** Whether its results have films (`FilmToMake`), which need the package for videos. */
  readonly makesFilms?: true;
  /** Share of the held credits that a result is charged, 0 to 1. Without it all of them. */
  chargedShare?(result: unknown): number;
}

/** Called once per job. Returns the endpoint's result, with MadePictures in place of artefacts. */
export type RunnablePipeline = (input: PipelineInput) => Promise<unknown>;

/** Decodes the request's only picture. @throws as `decode`; Error when there is not exactly one */
export async function onlyPicture(pictures: readonly Picture[]): Promise<RgbImage> {
  const [picture] = pictures;
  if (!picture || pictures.length > 1) throw new Error(`a pipeline of one picture was given ${pictures.length}`);
  return picture.decode();
}

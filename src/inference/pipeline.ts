/**
 * What an endpoint's `pipeline.ts` exports. A pipeline runs in a child process that has the models loaded and decodes
 * pictures; it needs no import but pure functions of this toolkit, so the worker may import it too.
 */
import type { OutputFormat } from '../contracts/vocabulary/renders.ts';
import type { RgbImage } from './images/rgb-image.ts';
import type { Model } from './models/model.ts';

/** A picture of a request. */
export interface Picture {
  /** Of its file. */
  format: OutputFormat;
  /**
   * 8-bit sRGB, upright. Decoded anew at each call: a pipeline of many pictures holds one at a time, some 150 MB at most.
   * @throws ServiceError `input_unreadable`
   */
  decode(): Promise<RgbImage>;
}

export interface PipelineInput {
  /** Those of the request, in order. */
  pictures: readonly Picture[];
  /** Validated parameters of the request, with defaults filled in. */
  parameters: Readonly<Record<string, unknown>>;
}

export interface PipelineDefinition {
  /** The `task` in `model.json` of the models that it runs on. Models which such a one names in `uses` come with it. */
  readonly task: string;
  /**
   * Called once per child process, before it takes work.
   * @throws Error that names the field of `model.json` that the pipeline misses.
   */
  create(model: Model): RunnablePipeline;
  /** Puts what earlier jobs found into the parameters, in place of those that name the jobs. Runs in the worker. */
  withReferences?(
    parameters: PipelineInput['parameters'],
    readResult: (jobId: string) => Promise<unknown>,
  ): Promise<PipelineInput['parameters']>;
  /** Of the credits held, the share that a result is charged, 0 to 1. Without it all of them. */
  chargedShare?(result: unknown): number;
}

/** What an executor calls, for each job. */
export type RunnablePipeline = (input: PipelineInput) => Promise<unknown>;

/** @throws as `decode`; Error where the endpoint takes another number of pictures than one */
export async function onlyPicture(pictures: readonly Picture[]): Promise<RgbImage> {
  const [picture] = pictures;
  if (!picture || pictures.length > 1) throw new Error(`a pipeline of one picture was given ${pictures.length}`);
  return picture.decode();
}

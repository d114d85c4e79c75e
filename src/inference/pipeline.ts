/**
 * What an endpoint's `pipeline.ts` exports. A pipeline runs in a child process that has the models loaded and the
 * pictures decoded; it needs no import but pure functions of this toolkit, so the worker may import it too.
 */
import type { OutputFormat } from '../contracts/vocabulary/renders.ts';
import type { RgbImage } from './images/rgb-image.ts';
import type { Model } from './models/model.ts';

export interface PipelineInput {
  /** The request's pictures in order, decoded: 8-bit sRGB, upright. */
  images: readonly RgbImage[];
  /** Of the request's pictures as they were sent; left out by callers whose pipelines make no pictures. */
  formats?: readonly OutputFormat[];
  /** Validated parameters of the request, with defaults filled in. */
  parameters: Readonly<Record<string, unknown>>;
}

/**
 * `Prepared` and `Output` hand along what the next step needs beside its tensors, such as the transform that leads from
 * a letterboxed input back to the pixels of the original picture.
 */
export interface Pipeline<Prepared, Output> {
  /** Pictures → tensors. */
  preprocess(input: PipelineInput): Prepared;
  /** Tensors → what the networks say, in the original picture's pixels. The only step that runs a model. */
  infer(prepared: Prepared): Promise<Output>;
  /** What the networks say → the endpoint's result. Pure: thresholds, rules and parameters only. */
  postprocess(output: Output, input: PipelineInput): unknown;
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

/** A pipeline with its steps chained: what an executor calls. */
export type RunnablePipeline = (input: PipelineInput) => Promise<unknown>;

/** Chains the steps. Keeps the types between them inside the endpoint's folder. */
export function chain<Prepared, Output>(pipeline: Pipeline<Prepared, Output>): RunnablePipeline {
  return async (input) => pipeline.postprocess(await pipeline.infer(pipeline.preprocess(input)), input);
}

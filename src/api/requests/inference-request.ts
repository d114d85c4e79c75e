/** An inference request, however it was encoded: parameters with defaults, and stored input files. */
import { type TSchema, Type } from 'typebox';
import type { EndpointContract, JobReference } from '../../contracts/endpoint-contract.ts';
import type { JobInput } from '../../contracts/job.ts';
import type { Job } from '../../jobs/entities.ts';
import { findReadableJob } from '../../jobs/readable-jobs-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../platform/storage/object-store.ts';
import { Upload } from '../../uploads/entities.ts';
import { readPictureSize } from '../../uploads/picture-size.ts';
import type { ApiContext } from '../context.ts';
import { jobReaderOf } from '../job-reader.ts';
import { assertScope } from '../middleware/authenticate.ts';
import { readJsonBody } from './json-body.ts';
import { readMultipartBody, removeFiles } from './multipart-body.ts';
import { parseJson } from './parse-json.ts';
import { compileValidator } from './validator.ts';

export interface InferenceRequest {
  parameters: Record<string, unknown>;
  inputs: JobInput[];
  /** Removes the request's files when no job will own them. */
  discard(): Promise<void>;
}

export type ReadInferenceRequest = (context: ApiContext, jobId: string) => Promise<InferenceRequest>;

/** Schema of the JSON encoding: the parameters and the references to uploads. */
export function jsonRequestSchema({ files, parameters }: EndpointContract) {
  const uploadId = Type.String({ pattern: '^upl_[1-9A-HJ-NP-Za-km-z]{8,32}$', description: 'Id of an upload.' });
  const uploadIds = Type.Array(uploadId, { minItems: files.minimum, maxItems: files.maximum });
  const name = referenceName(files.maximum);
  const schema = files.maximum === 1 ? uploadId : uploadIds;
  const references = files.maximum === 0 ? {} : { [name]: files.minimum === 0 ? Type.Optional(schema) : schema };
  return Type.Object({ ...references, ...parameters.properties }, { additionalProperties: false });
}

/** The field of a JSON body that names uploads. */
export const referenceName = (maximumFiles: number) => (maximumFiles === 1 ? 'input_ref' : 'input_refs');

/** Creates the reader of one endpoint's requests. Its validators are compiled once. */
export function createRequestReader(
  endpoint: EndpointContract,
  { store, endpoints, clock }: { store: ObjectStore; endpoints: readonly EndpointContract[]; clock: () => Date },
): ReadInferenceRequest {
  const readMultipart = createMultipartReader(endpoint, store);
  const readJson = createJsonReader(endpoint);

  return async (context, jobId) => {
    const request = await read(context, jobId);
    try {
      refine(endpoint, request, {
        isJson: Boolean(context.is('application/json')),
        livemode: context.state.apiKey.livemode,
        now: clock(),
      });
      for (const family of endpoint.furtherFamilies?.({ parameters: request.parameters, files: request.inputs }) ??
        []) {
        assertScope(context.state.apiKey, `${family}:write`);
      }
      for (const reference of endpoint.jobReferences ?? []) {
        await checkJobReference(context, endpoints, reference, request);
      }
      await checkRegions(endpoint, request, store);
      return request;
    } catch (error) {
      await request.discard();
      throw error;
    }
  };

  function read(context: ApiContext, jobId: string): Promise<InferenceRequest> {
    if (context.is('application/json')) return readJson(context);
    const { field, maximum, directMediaTypes } = endpoint.files;
    if (maximum > 0 && directMediaTypes.length === 0) {
      throw new ServiceError(
        'unsupported_media_type',
        `"${field}" is accepted only as an upload: create one with POST /v1/uploads, then send application/json with its id.`,
        { param: field },
      );
    }
    if (context.is('multipart/form-data')) return readMultipart(context, jobId);
    throw new ServiceError(
      'unsupported_media_type',
      'Send multipart/form-data with the file, or application/json with a reference to an upload.',
    );
  }
}

function createMultipartReader(endpoint: EndpointContract, store: ObjectStore): ReadInferenceRequest {
  const { field, minimum } = endpoint.files;
  const validate = compileValidator(endpoint.parameters, 'multipart');
  const structured = Object.entries(endpoint.parameters.properties).filter(
    ([, schema]) => isList(schema) || isObject(schema),
  );
  const jsonFields = structured.filter(([, schema]) => holdsObjects(schema)).map(([name]) => name);
  // JSON carries its own types, so its values are not coerced as text parts are.
  const validateJsonFields = compileValidator(
    Type.Partial(Type.Pick(endpoint.parameters, jsonFields), { additionalProperties: true }),
    'json',
  );

  return async (context, jobId) => {
    const body = await readMultipartBody(context.req, store, {
      ...endpoint.files,
      storageKey: (index) => `jobs/${jobId}.${index}`,
    });
    const parameters: Record<string, unknown> = body.fields;
    try {
      if (Object.hasOwn(parameters, field)) throw notAFile(field);
      for (const [name, schema] of structured) readStructuredField(parameters, name, schema);
      validateJsonFields(parameters);
      validate(parameters);
      if (body.files.length < minimum) throw missingFiles(field, minimum);
    } catch (error) {
      await removeFiles(store, body.files);
      throw error;
    }
    return {
      parameters,
      inputs: body.files.map(({ storageKey, mediaType, bytes, sha256 }) => ({
        field,
        storageKey,
        mediaType,
        bytes,
        sha256,
        uploadId: null,
      })),
      discard: () => removeFiles(store, body.files),
    };
  };
}

function missingFiles(field: string, minimum: number): ServiceError {
  const message =
    minimum === 1
      ? `"${field}" is required: send the file as a multipart part.`
      : `"${field}" is required: send at least ${minimum} files, each as a multipart part.`;
  return new ServiceError('parameter_missing', message, { param: field });
}

function notAFile(field: string): ServiceError {
  return new ServiceError('parameter_invalid', `"${field}" must be a file, as curl sends it with -F ${field}=@path.`, {
    param: field,
  });
}

type Described = { type?: unknown; items?: { type?: unknown } };
const isObject = (schema: TSchema) => (schema as Described).type === 'object';
const isList = (schema: TSchema) => (schema as Described).type === 'array';
const holdsObjects = (schema: TSchema) => isObject(schema) || (schema as Described).items?.type === 'object';

/** In a multipart body an object is JSON text. A list is JSON text too, or a part for each item. */
function readStructuredField(parameters: Record<string, unknown>, name: string, schema: TSchema): void {
  const given = parameters[name] as string | string[] | undefined;
  if (given === undefined) return;
  if (typeof given === 'string' && (isObject(schema) || given.trimStart().startsWith('['))) {
    parameters[name] = parseJsonText(given, name);
  } else if (isList(schema)) {
    const items = [given].flat();
    parameters[name] = holdsObjects(schema)
      ? items.map((item, index) => parseJsonText(item, `${name}.${index}`))
      : items;
  }
}

function parseJsonText(text: string, name: string): unknown {
  try {
    return parseJson(text, name);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('parameter_invalid', `"${name}" must be JSON.`, { param: name, cause: error });
  }
}

function createJsonReader(endpoint: EndpointContract): (context: ApiContext) => Promise<InferenceRequest> {
  const validate = compileValidator(jsonRequestSchema(endpoint), 'json');
  return async (context) => {
    const body = await readJsonBody(context);
    validate(body);
    const { input_ref, input_refs, ...parameters } = body as { input_ref?: string; input_refs?: string[] };
    const uploadIds = input_refs ?? (input_ref === undefined ? [] : [input_ref]);
    const param = input_refs ? 'input_refs' : 'input_ref';
    const inputs: JobInput[] = [];
    for (const id of uploadIds) inputs.push(await findUpload(context, endpoint, id, param));
    return { parameters, inputs, discard: async () => {} };
  };
}

async function findUpload(
  context: ApiContext,
  { files }: EndpointContract,
  id: string,
  param: string,
): Promise<JobInput> {
  const { organizationId, livemode } = context.state.apiKey;
  const upload = await context.state.em.findOne(Upload, { id, organizationId, livemode });
  if (!upload) throw new ServiceError('resource_not_found', `There is no upload ${id}.`, { param });
  if (upload.status !== 'ready' || upload.sha256 === null) {
    throw new ServiceError('parameter_invalid', `The upload ${id} has no content yet.`, { param });
  }
  if (!files.mediaTypes.includes(upload.mediaType)) {
    const accepted = files.mediaTypes.join(', ');
    throw new ServiceError(
      'unsupported_media_type',
      `The upload is ${upload.mediaType}; this endpoint accepts ${accepted}.`,
      {
        param,
      },
    );
  }
  const { storageKey, mediaType, bytes, sha256 } = upload;
  return { field: files.field, storageKey, mediaType, bytes, sha256, uploadId: id };
}

function refine(
  endpoint: EndpointContract,
  { parameters, inputs }: InferenceRequest,
  { isJson, livemode, now }: { isJson: boolean; livemode: boolean; now: Date },
): void {
  const request = { parameters, files: inputs };
  const problem = endpoint.refine?.(request) ?? (livemode ? null : endpoint.refineTestMode?.(request, now));
  if (!problem) return;
  const { field, maximum } = endpoint.files;
  const param = isJson && problem.param === field ? referenceName(maximum) : problem.param;
  throw new ServiceError(problem.isMissing ? 'parameter_missing' : 'parameter_invalid', problem.message, { param });
}

async function checkJobReference(
  context: ApiContext,
  contracts: readonly EndpointContract[],
  { parameter, endpoints, isExhaustive, samePicture = [] }: JobReference,
  { parameters, inputs }: InferenceRequest,
): Promise<void> {
  const id = parameters[parameter];
  if (typeof id !== 'string') return;
  const job = await findReadableJob(context.state.em, jobReaderOf(context.state.apiKey, contracts), id);
  if (!job) throw new ServiceError('resource_not_found', `There is no job ${id}.`, { param: parameter });
  const isUsable = endpoints.includes(job.endpoint) && (job.status === 'succeeded' || job.status === 'partial');
  if (isUsable) {
    const failed = isExhaustive && findFailedStage(job, contracts);
    if (!failed) {
      if (samePicture.includes(job.endpoint)) refuseOtherPicture(parameter, job, inputs);
      return;
    }
    const message =
      `"${parameter}" names a partial job whose stage ${failed} failed, at least for some views, so its result is ` +
      'incomplete. Name a job that examined all views.';
    throw new ServiceError('parameter_invalid', message, { param: parameter });
  }
  throw new ServiceError(
    'parameter_invalid',
    `"${parameter}" must name a succeeded job of ${endpoints.join(' or ')}; this one is ${job.endpoint}, ${job.status}.`,
    { param: parameter },
  );
}

/** Boxes of one picture mean nothing on another. A request without a picture places them on pictures of a job. */
function refuseOtherPicture(parameter: string, job: Job, [picture]: readonly JobInput[]): void {
  if (!picture || job.inputs.some(({ sha256 }) => sha256 === picture.sha256)) return;
  const message = `"${parameter}" names a job on another picture. Send the file that ${job.id} examined, unchanged, or omit it.`;
  throw new ServiceError('parameter_invalid', message, { param: parameter });
}

async function checkRegions(
  endpoint: EndpointContract,
  { parameters, inputs }: InferenceRequest,
  store: ObjectStore,
): Promise<void> {
  const regions = endpoint.regions?.({ parameters, files: inputs }) ?? [];
  const [picture] = inputs;
  if (regions.length === 0 || !picture) return;
  // A file that is no picture, or has gone, is refused or fails for that reason.
  const size = await readPictureSize(store, picture).catch((error: unknown) => {
    if (error instanceof ObjectNotFoundError) return null;
    throw error;
  });
  if (!size) return;
  const { width, height } = size;
  const outside = regions.find(({ points }) =>
    points.some(({ x, y }) => x > width + PIXEL_TOLERANCE || y > height + PIXEL_TOLERANCE),
  );
  if (!outside) return;
  const { param } = outside;
  const message = `"${param}" must lie within the picture, which is ${width} × ${height} pixels as displayed.`;
  throw new ServiceError('parameter_invalid', message, { param });
}

/** Boxes of detectors are rounded. */
const PIXEL_TOLERANCE = 1;

/** The first stage of a job that failed, at least in part, and that the result cannot do without. */
function findFailedStage(job: Job, contracts: readonly EndpointContract[]): string | undefined {
  const { endpoint, parameters, inputs, stages } = job;
  const plan = contracts.find(({ slug }) => slug === endpoint)?.stagePlan?.({ parameters, files: inputs }) ?? [];
  const optional = plan.filter(({ isOptional }) => isOptional).map(({ name }) => name);
  return stages?.find(({ name, error }) => error !== null && !optional.includes(name))?.name;
}

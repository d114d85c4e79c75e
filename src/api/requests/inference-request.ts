/** An inference request, however it was encoded: parameters with defaults, and stored input files. */
import { type TSchema, Type } from 'typebox';
import type { EndpointContract, JobReference } from '../../contracts/endpoint-contract.ts';
import type { JobInput } from '../../contracts/job.ts';
import { findReadableJob, type JobReader } from '../../jobs/readable-jobs-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import { Upload } from '../../uploads/entities.ts';
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
  { store, endpoints }: { store: ObjectStore; endpoints: readonly EndpointContract[] },
): ReadInferenceRequest {
  const readMultipart = createMultipartReader(endpoint, store);
  const readJson = createJsonReader(endpoint);

  return async (context, jobId) => {
    const request = await read(context, jobId);
    try {
      refine(endpoint, request, Boolean(context.is('application/json')));
      for (const family of endpoint.furtherFamilies?.({ parameters: request.parameters, files: request.inputs }) ??
        []) {
        assertScope(context.state.apiKey, `${family}:write`);
      }
      for (const reference of endpoint.jobReferences ?? []) {
        await checkJobReference(context, jobReaderOf(context.state.apiKey, endpoints), reference, request);
      }
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
  const jsonFields = Object.entries(endpoint.parameters.properties)
    .filter(([, schema]) => holdsObjects(schema))
    .map(([name]) => name);
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
      for (const name of jsonFields) parseJsonField(parameters, name);
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

/** Objects and lists of objects travel as JSON text in a multipart body. */
function holdsObjects(schema: TSchema): boolean {
  const { type, items } = schema as { type?: unknown; items?: { type?: unknown } };
  return type === 'object' || (type === 'array' && items?.type === 'object');
}

function parseJsonField(parameters: Record<string, unknown>, name: string): void {
  const text = parameters[name];
  if (typeof text !== 'string') return;
  try {
    parameters[name] = parseJson(text, name);
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

function refine(endpoint: EndpointContract, { parameters, inputs }: InferenceRequest, isJson: boolean): void {
  const problem = endpoint.refine?.({ parameters, files: inputs });
  if (!problem) return;
  const { field, maximum } = endpoint.files;
  const param = isJson && problem.param === field ? referenceName(maximum) : problem.param;
  throw new ServiceError(problem.isMissing ? 'parameter_missing' : 'parameter_invalid', problem.message, { param });
}

async function checkJobReference(
  context: ApiContext,
  reader: JobReader,
  { parameter, endpoints }: JobReference,
  { parameters }: InferenceRequest,
): Promise<void> {
  const id = parameters[parameter];
  if (typeof id !== 'string') return;
  const job = await findReadableJob(context.state.em, reader, id);
  if (!job) throw new ServiceError('resource_not_found', `There is no job ${id}.`, { param: parameter });
  const isUsable = endpoints.includes(job.endpoint) && (job.status === 'succeeded' || job.status === 'partial');
  if (isUsable) return;
  throw new ServiceError(
    'parameter_invalid',
    `"${parameter}" must name a succeeded job of ${endpoints.join(' or ')}; this one is ${job.endpoint}, ${job.status}.`,
    { param: parameter },
  );
}

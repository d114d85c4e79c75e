/**
 * Live valuations of vehicles and estimates of repairs: price books in PostgreSQL, and the models fitted to them. It needs no
 * other model.
 */
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import type {
  InferenceBackend,
  InferenceContext,
  InferenceRequest,
  InstalledEndpoint,
} from '../../contracts/inference-backend.ts';
import type { InferenceOutcome } from '../../contracts/job.ts';
import { damageSeverity } from '../../endpoints/damage.severity/contract.ts';
import { endpoints } from '../../endpoints/list.ts';
import { estimateRepairs } from '../../endpoints/pricing.repair/live-estimate.ts';
import { withReferences } from '../../endpoints/pricing.repair/references.ts';
import { withReport as withEstimateReport } from '../../endpoints/pricing.repair/report.ts';
import { attributesOf, type ValuationParameters, valueVehicle } from '../../endpoints/pricing.vehicle/live-value.ts';
import { withReport as withValuationReport } from '../../endpoints/pricing.vehicle/report.ts';
import { isAnnounced } from '../../jobs/installed-endpoints-store.ts';
import type { MikroORM } from '../../platform/database/orm.ts';
import type { Log } from '../../platform/logging/log.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { decodeModel } from '../../price-books/model/encode-model.ts';
import { type MarketModel, usualMileageOf } from '../../price-books/model/market-model.ts';
import { findNeighbours } from '../../price-books/observations-store.ts';
import { planValuation, type ValuationPlan } from '../../price-books/plan-valuation.ts';
import { BOOK_KINDS, type BookKind, hasActiveVersion, readModelBytes } from '../../price-books/price-books-store.ts';
import { planRepair } from '../../price-books/repairs/plan-repair.ts';
import { findEntries } from '../../price-books/repairs/repair-entries-store.ts';
import { makeKey, nameKey } from '../../price-books/vehicle-names.ts';
import { makesOfVin } from '../../price-books/vin.ts';
import { createLiveRunner } from '../bundles/live-runner.ts';
import { failed, invalidResult, succeeded } from '../toolkit/outcomes.ts';
import { createResultCheck } from '../toolkit/result-check.ts';

const ENDPOINTS = new URL('../../endpoints/', import.meta.url);
const PRICED = endpoints.flatMap((endpoint) =>
  'usesPriceBooks' in endpoint ? [{ endpoint: endpoint.slug, kind: endpoint.usesPriceBooks }] : [],
);
/** The builds of the methods. Each changes with anything that changes an amount of the same book. */
const VERSIONS: Readonly<Record<BookKind, string>> = {
  market: 'market-valuation@2026-11-23',
  repairs: 'repair-estimate@2026-11-23',
};
/** Models in memory, a few megabytes each. */
const MOST_MODELS = 8;

interface Options {
  orm: MikroORM;
  /** Stores the files of reports. */
  writeArtefact: WriteArtefact;
  logger: Log;
}

export interface ValuationBackend extends InferenceBackend {
  /** The endpoints that had an active price book at the last `reload`. */
  installedEndpoints(): readonly InstalledEndpoint[];
  reload(): Promise<void>;
}

type Context = Pick<InferenceContext, 'readResult'>;

export async function createValuationBackend({ orm, writeArtefact, logger }: Options): Promise<ValuationBackend> {
  const check = createResultCheck(endpoints);
  const models = new Map<string, MarketModel>();
  let kinds: readonly BookKind[] = [];
  const reload = async () => {
    const em = orm.em.fork();
    const active = await Promise.all(BOOK_KINDS.map((kind) => hasActiveVersion(em.fork(), kind)));
    kinds = BOOK_KINDS.filter((_, at) => active[at]);
  };
  await reload();

  /** The versions of a book never change, so a model in memory is current for ever. */
  async function modelOf(versionId: string): Promise<MarketModel> {
    const model = models.get(versionId) ?? decodeModel(await readModelBytes(orm.em.fork(), versionId));
    // The one used last goes to the end, the one not used for longest is at the front.
    models.delete(versionId);
    models.set(versionId, model);
    if (models.size > MOST_MODELS) models.delete([...models.keys()][0] ?? '');
    return model;
  }

  async function value(plan: ValuationPlan, parameters: ValuationParameters) {
    const { version, vehicle } = plan;
    const model = await modelOf(version.id);
    const attributes = attributesOf({ plan, model, parameters });
    const neighbours =
      parameters.include_comparables === false
        ? []
        : await findNeighbours(orm.em.fork(), {
            versionId: version.id,
            make: vehicle.make,
            model: vehicle.model,
            year: vehicle.year,
            mileageKm: attributes.mileageKm ?? usualMileageOf(model, attributes),
          });
    return withValuationReport(valueVehicle({ plan, model, neighbours, parameters }), parameters, writeArtefact);
  }

  /** The result by the books of each kind, or why there is none. */
  const RESULTS: Readonly<Record<BookKind, (parameters: object, context: Context) => Promise<unknown>>> = {
    market: async (parameters) => {
      const plan = await planValuation(orm.em.fork(), parameters as ValuationParameters);
      return plan.kind === 'planned' ? value(plan, parameters as ValuationParameters) : unplanned(plan);
    },
    repairs: async (requested, { readResult = async () => null }) => {
      const parameters = await withReferences(requested, readResult);
      const plan = await planRepair(orm.em.fork(), parameters);
      if (plan.kind !== 'planned') return unplanned(plan);
      const { make = '', model = '', vin = '' } = parameters.vehicle ?? {};
      const names = { make: makeKey(make) || (makesOfVin(vin)[0] ?? ''), model: nameKey(model) };
      const entries = await findEntries(orm.em.fork(), plan.version.id, names);
      return withEstimateReport(estimateRepairs({ plan, entries, parameters }), parameters, writeArtefact);
    },
  };

  async function infer(request: InferenceRequest, context: InferenceContext): Promise<InferenceOutcome> {
    const { jobId, endpoint, parameters, reservedCredits } = request;
    context.signal.throwIfAborted();
    try {
      const result = await RESULTS[kindOf(endpoint)](parameters, context);
      // Another attempt would find no other book.
      if (result instanceof ServiceError) return failed(result);
      const problem = check(endpoint, result);
      if (problem === null) return succeeded(result, reservedCredits);
      logger.error({ jobId, endpoint, problem }, 'a price book gave an invalid result');
      return invalidResult();
    } catch (error) {
      if (error instanceof ServiceError && !error.retryable) return failed(error);
      throw error;
    }
  }

  const stages = createLiveRunner({
    endpoints,
    endpointsDirectory: ENDPOINTS,
    check,
    logger,
    infer: async ({ endpoint }) => {
      throw new ServiceError('model_unavailable', `No model is installed for ${endpoint}.`);
    },
    inferByBooks: infer,
    writeArtefact,
    serves: () => false,
    children: 1,
  });

  return {
    modelVersion: ({ endpoint }) => VERSIONS[kindOf(endpoint)],
    infer,
    bundles: {
      ...stages,
      // Pictures only refine a valuation: without a worker that sees damage it rests on the attributes.
      plan: async (request, context) => {
        const plan = await stages.plan(request, context);
        const seesDamage = { endpoint: damageSeverity.slug, modelVersion: null };
        return plan && (await isAnnounced(orm.em.fork(), seesDamage)) ? plan : null;
      },
    },
    installedEndpoints: () =>
      PRICED.flatMap(({ endpoint, kind }) =>
        kinds.includes(kind) ? [{ endpoint, modelVersion: VERSIONS[kind] }] : [],
      ),
    reload,
    close: async () => models.clear(),
  };
}

function kindOf(endpoint: string): BookKind {
  const priced = PRICED.find((one) => one.endpoint === endpoint);
  if (!priced) throw new Error(`${endpoint} uses no price books`);
  return priced.kind;
}

/** Admission refuses such requests; the book was retired since, or an inspection has none for its vehicle. */
function unplanned(plan: { kind: 'refused'; message: string } | { kind: 'unavailable' }): ServiceError {
  const reason = plan.kind === 'refused' ? ` ${plan.message}` : '';
  const message = `No active price book can answer this request.${reason} Nothing was charged.`;
  return new ServiceError('model_unavailable', message);
}

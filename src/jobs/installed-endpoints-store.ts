/** Endpoints with a model in live mode, and their builds. Inference workers announce them; the API reads them. */
import type { InstalledEndpoint, ServedValues } from '../contracts/inference-backend.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

interface Build {
  endpoint: string;
  modelVersion: string;
}

/** A worker's default builds, and all its builds. */
const PRESENT = `
  present (endpoint, model_version) as (select * from unnest($1::text[], $2::text[]) order by 1, 2),
  present_builds (endpoint, model_version, served_values) as (
    select * from unnest($3::text[], $4::text[], $5::jsonb[]) order by 1, 2
  ),
  announced as (
    insert into installed_builds (endpoint, model_version, served_values)
    select * from present_builds
    on conflict (endpoint, model_version)
      do update set announced_at = now(), served_values = excluded.served_values
  )`;

/**
 * Announces what an inference worker can run, and withdraws what it no longer can. Leaves builds that it never had: another
 * worker may have them.
 * @param gone builds that it announced before and has lost since
 */
export async function announceInstalledEndpoints(
  em: EntityManager,
  installed: readonly InstalledEndpoint[],
  gone: readonly Build[],
): Promise<void> {
  await query(
    em,
    `with ${PRESENT},
     gone (endpoint, model_version) as (select * from unnest($6::text[], $7::text[])),
     withdrawn as (
       delete from installed_endpoints where endpoint <> all ($1) and (endpoint, model_version) in (select * from gone)
     ),
     withdrawn_builds as (delete from installed_builds where (endpoint, model_version) in (select * from gone))
     insert into installed_endpoints (endpoint, model_version)
     select * from present
     on conflict (endpoint) do update set model_version = excluded.model_version, announced_at = now()`,
    [...columnsOf(installed), ...columns(gone)],
  );
}

/** Lifetime of an announcement that is not renewed. */
export const ANNOUNCEMENT_LEASE_MS = 90_000;

/**
 * Renews the announcement of a worker that still runs. A different build announced since then stays: during a deploy old and
 * new workers run side by side, and the newer announcement counts.
 */
export async function renewInstalledEndpoints(
  em: EntityManager,
  installed: readonly InstalledEndpoint[],
): Promise<void> {
  await query(
    em,
    `with ${PRESENT}
     insert into installed_endpoints as known (endpoint, model_version)
     select * from present
     on conflict (endpoint) do update set announced_at = now() where known.model_version = excluded.model_version`,
    columnsOf(installed),
  );
}

/** Withdraws expired announcements: the last worker with those models is gone. Returns their endpoints. */
export async function withdrawStaleEndpoints(em: EntityManager): Promise<string[]> {
  const rows = await query<{ endpoint: string }>(
    em,
    `with withdrawn_builds as (
       delete from installed_builds where announced_at < now() - $1 * interval '1 millisecond'
     )
     delete from installed_endpoints where announced_at < now() - $1 * interval '1 millisecond' returning endpoint`,
    [ANNOUNCEMENT_LEASE_MS],
  );
  return rows.map((row) => row.endpoint);
}

/**
 * The builds that a request may pin, by endpoint: first the default build, then the newest; builds of the same date by the
 * model's name.
 */
export async function readInstalledEndpoints(em: EntityManager): Promise<Map<string, [string, ...string[]]>> {
  const rows = await query<{ endpoint: string; model_version: string; other_versions: string[] }>(
    em,
    `select endpoint, model_version, array(
       select other.model_version from installed_builds as other
       where other.endpoint = installed.endpoint and other.model_version <> installed.model_version
       order by split_part(other.model_version, '@', 2) desc, other.model_version
     ) as other_versions
     from installed_endpoints as installed`,
  );
  return new Map(rows.map((row) => [row.endpoint, [row.model_version, ...row.other_versions]]));
}

/** By endpoint, what its default build serves of the parameters that depend on the model. */
export async function readServedValues(em: EntityManager): Promise<Map<string, ServedValues>> {
  const rows = await query<{ endpoint: string; served_values: ServedValues }>(
    em,
    `select endpoint, served_values from installed_endpoints join installed_builds using (endpoint, model_version)
     where served_values is not null`,
  );
  return new Map(rows.map((row) => [row.endpoint, row.served_values]));
}

/** What the build, or without one the default build, serves of those parameters; null if it serves every value. */
export async function readServedValuesOf(
  em: EntityManager,
  { endpoint, modelVersion }: { endpoint: string; modelVersion: string | null },
): Promise<ServedValues | null> {
  const [row] = await query<{ served_values: ServedValues | null }>(
    em,
    `select served_values from installed_builds where endpoint = $1
       and model_version = coalesce($2, (select model_version from installed_endpoints where endpoint = $1))`,
    [endpoint, modelVersion],
  );
  return row?.served_values ?? null;
}

/** Whether some worker has the build, as its default or for requests that pin it. */
export async function isBuildInstalled(em: EntityManager, { endpoint, modelVersion }: Build): Promise<boolean> {
  const [row] = await query<{ known: boolean }>(
    em,
    `select exists (select from installed_builds where endpoint = $1 and model_version = $2)
       or exists (select from installed_endpoints where endpoint = $1 and model_version = $2) as known`,
    [endpoint, modelVersion],
  );
  return row?.known ?? false;
}

/** Whether some worker announces the endpoint with that build, or with any build when none is named. */
export async function isAnnounced(
  em: EntityManager,
  { endpoint, modelVersion }: { endpoint: string; modelVersion: string | null },
): Promise<boolean> {
  if (modelVersion !== null) return isBuildInstalled(em, { endpoint, modelVersion });
  const rows = await query(em, 'select from installed_endpoints where endpoint = $1', [endpoint]);
  return rows.length > 0;
}

/** Every build of each endpoint, one by one. */
export function buildsOf(installed: readonly InstalledEndpoint[]): Build[] {
  return installed.flatMap(({ endpoint, modelVersion, otherVersions = [] }) =>
    [modelVersion, ...otherVersions].map((version) => ({ endpoint, modelVersion: version })),
  );
}

function columnsOf(installed: readonly InstalledEndpoint[]): (string | null)[][] {
  const values = new Map(installed.map(({ endpoint, servedValues }) => [endpoint, servedValues]));
  const builds = buildsOf(installed);
  const servedValues = builds.map(({ endpoint, modelVersion }) => {
    const served = values.get(endpoint)?.[modelVersion];
    return served ? JSON.stringify(served) : null;
  });
  return [...columns(installed), ...columns(builds), servedValues];
}

function columns(builds: readonly Build[]): [string[], string[]] {
  return [builds.map(({ endpoint }) => endpoint), builds.map(({ modelVersion }) => modelVersion)];
}

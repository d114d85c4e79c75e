/** Which endpoints have a model in live mode, and which builds. Inference workers announce it; the API reads it. */
import { type EntityManager, query } from '../orm.ts';

export interface InstalledEndpoint {
  endpoint: string;
  /** `<model>@<release date>`: answers where a request names no build. */
  modelVersion: string;
  /** Other builds that a request may pin. */
  otherVersions?: readonly string[];
}

interface Build {
  endpoint: string;
  modelVersion: string;
}

/** Of a worker: what it can run by default, and all it can run. */
const PRESENT = `
  present (endpoint, model_version) as (select * from unnest($1::text[], $2::text[]) order by 1, 2),
  present_builds (endpoint, model_version) as (select * from unnest($3::text[], $4::text[]) order by 1, 2),
  announced as (
    insert into installed_builds (endpoint, model_version)
    select * from present_builds
    on conflict (endpoint, model_version) do update set announced_at = now()
  )`;

/**
 * Announces what an inference worker can run, and withdraws what it no longer can. Of what it never had it knows nothing:
 * another worker may have it.
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
     gone (endpoint, model_version) as (select * from unnest($5::text[], $6::text[])),
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

/** How long an announcement holds that nobody renews. */
export const ANNOUNCEMENT_LEASE_MS = 90_000;

/**
 * Says that a worker with these models still runs. Another build that was announced since stays as it is: during a deploy
 * old and new workers run side by side, and the newer announcement counts.
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

/** Withdraws what nobody has renewed in time: the last worker with those models is gone. Answers the endpoints. */
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
 * By endpoint, the builds that a request may pin. First comes the one that answers where it pins none, then the newest; of
 * one date, by the name of the model.
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

/** Whether some worker can answer the endpoint with the build, by default or where a request pins it. */
export async function isBuildInstalled(em: EntityManager, { endpoint, modelVersion }: Build): Promise<boolean> {
  const [row] = await query<{ known: boolean }>(
    em,
    `select exists (select from installed_builds where endpoint = $1 and model_version = $2)
       or exists (select from installed_endpoints where endpoint = $1 and model_version = $2) as known`,
    [endpoint, modelVersion],
  );
  return row?.known ?? false;
}

/** Whether some worker can answer the endpoint: with that build, or, where none is named, with any. */
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

function columnsOf(installed: readonly InstalledEndpoint[]): string[][] {
  return [...columns(installed), ...columns(buildsOf(installed))];
}

function columns(builds: readonly Build[]): [string[], string[]] {
  return [builds.map(({ endpoint }) => endpoint), builds.map(({ modelVersion }) => modelVersion)];
}

/** Which endpoints have a model in live mode. Inference workers announce it; the API reads it. */
import { type EntityManager, query } from '../orm.ts';

export interface InstalledEndpoint {
  endpoint: string;
  /** `<model>@<release date>` */
  modelVersion: string;
}

/** Announces what an inference worker can run, and withdraws what its models no longer can. */
export async function announceInstalledEndpoints(
  em: EntityManager,
  installed: readonly InstalledEndpoint[],
  missing: readonly string[],
): Promise<void> {
  await query(
    em,
    `with withdrawn as (delete from installed_endpoints where endpoint = any ($3))
     insert into installed_endpoints (endpoint, model_version)
     select * from unnest($1::text[], $2::text[])
     on conflict (endpoint) do update set model_version = excluded.model_version, announced_at = now()`,
    [installed.map(({ endpoint }) => endpoint), installed.map(({ modelVersion }) => modelVersion), missing],
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
    `insert into installed_endpoints as known (endpoint, model_version)
     select * from unnest($1::text[], $2::text[])
     on conflict (endpoint) do update set announced_at = now() where known.model_version = excluded.model_version`,
    [installed.map(({ endpoint }) => endpoint), installed.map(({ modelVersion }) => modelVersion)],
  );
}

/** Withdraws what nobody has renewed in time: the last worker with those models is gone. Answers the endpoints. */
export async function withdrawStaleEndpoints(em: EntityManager): Promise<string[]> {
  const rows = await query<{ endpoint: string }>(
    em,
    `delete from installed_endpoints where announced_at < now() - $1 * interval '1 millisecond' returning endpoint`,
    [ANNOUNCEMENT_LEASE_MS],
  );
  return rows.map((row) => row.endpoint);
}

export async function readInstalledEndpoints(em: EntityManager): Promise<Map<string, string>> {
  const rows = await query<{ endpoint: string; model_version: string }>(
    em,
    'select endpoint, model_version from installed_endpoints',
  );
  return new Map(rows.map((row) => [row.endpoint, row.model_version]));
}

/** Which endpoints have a model in live mode. Inference workers announce it; the API reads it. */
import { type EntityManager, query } from './orm.ts';

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

export async function isEndpointInstalled(em: EntityManager, endpoint: string): Promise<boolean> {
  const rows = await query(em, 'select from installed_endpoints where endpoint = $1', [endpoint]);
  return rows.length > 0;
}

export async function readInstalledEndpoints(em: EntityManager): Promise<Map<string, string>> {
  const rows = await query<{ endpoint: string; model_version: string }>(
    em,
    'select endpoint, model_version from installed_endpoints',
  );
  return new Map(rows.map((row) => [row.endpoint, row.model_version]));
}

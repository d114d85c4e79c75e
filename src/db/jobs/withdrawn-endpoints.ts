/** Which endpoints live mode offered until their last inference worker was gone: for telling customers why none answers. */
import { type EntityManager, query } from '../orm.ts';

export async function rememberWithdrawnEndpoints(em: EntityManager, endpoints: readonly string[]): Promise<void> {
  await query(
    em,
    `insert into withdrawn_endpoints (endpoint) select * from unnest($1::text[]) as endpoint order by endpoint
     on conflict (endpoint) do update set withdrawn_at = now()`,
    [endpoints],
  );
}

/** A worker has said of every endpoint whether it can run it: what was known before counts no more. */
export async function forgetWithdrawnEndpoints(em: EntityManager): Promise<void> {
  await query(em, 'delete from withdrawn_endpoints');
}

export async function isWithdrawnEndpoint(em: EntityManager, endpoint: string): Promise<boolean> {
  const rows = await query(em, 'select from withdrawn_endpoints where endpoint = $1', [endpoint]);
  return rows.length > 0;
}

/** Endpoints that live mode offered until their last inference worker was gone, so that refusals can say why. */
import { type EntityManager, query } from '../platform/database/orm.ts';

export async function rememberWithdrawnEndpoints(em: EntityManager, endpoints: readonly string[]): Promise<void> {
  await query(
    em,
    `insert into withdrawn_endpoints (endpoint) select * from unnest($1::text[]) as endpoint order by endpoint
     on conflict (endpoint) do update set withdrawn_at = now()`,
    [endpoints],
  );
}

/** Called after a worker has announced what it can run: earlier withdrawals no longer hold. */
export async function forgetWithdrawnEndpoints(em: EntityManager): Promise<void> {
  await query(em, 'delete from withdrawn_endpoints');
}

export async function isWithdrawnEndpoint(em: EntityManager, endpoint: string): Promise<boolean> {
  const rows = await query(em, 'select from withdrawn_endpoints where endpoint = $1', [endpoint]);
  return rows.length > 0;
}

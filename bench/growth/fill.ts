/**
 * Fills a database with what jobs leave behind over 400 days: jobs, ledger, events, deliveries with attempts and idempotency
 * claims, in the order in which they would have arisen. One organisation, the hot one, has more of it than any other.
 */
import pg from 'pg';
import { ID_PREFIXES, type IdKind } from '../../src/platform/ids.ts';
import { apiKeyId, createOrganizations, ID_DIGITS, type Organization, organizationId } from '../organizations.ts';

export const DAYS = 400;
const DAY_MS = 24 * 60 * 60_000;
const CHUNKS = 20;
const PRICE = 20;
/** Not yet ended, the last ones admitted. */
const OPEN_JOBS = 50;
/** The share of the latest jobs that have claims: with those that expired, as after a pause of the sweeper. */
const CLAIMED_SHARE = 0.1;

/** Endpoints of the jobs, and that of the oldest jobs of the hot organisation, which has had none since. */
export const ENDPOINTS = ['dashboard.read', 'plate.read', 'vin.read', 'tire.read', 'damage.detect'] as const;
export const RARE_ENDPOINT = 'vehicle.pose';
/** With which the hot organisation submitted its oldest jobs. */
export const RARE_KEY = 'key_rare';
/** Of the hot organisation. */
export const HOT = organizationId(1);
/** One of the others. */
export const COLD = organizationId(2);
export const HOT_WEBHOOK_ENDPOINT = `whe_${'1'.padStart(ID_DIGITS, '0')}`;

const TABLES = [
  'jobs',
  'credit_transfers',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'idempotency_claims',
] as const;

export interface Filling {
  jobs: number;
  organizations: number;
  /** One job in so many is of the hot organisation. */
  hotEvery: number;
  now: Date;
  signal: AbortSignal;
  /** Told how many jobs are there, now and then, and last what remains to be done. */
  onProgress?: (what: string) => void;
}

/** Fills a migrated database. Returns its organisations, the hot one first. */
export async function fill(
  databaseUrl: string,
  { jobs, organizations: count, hotEvery, now, signal, onProgress }: Filling,
): Promise<Organization[]> {
  const organizations = await createOrganizations(databaseUrl, count);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const start = new Date(now.getTime() - DAYS * DAY_MS);
    await client.query(SESSION);
    await client.query(idFunction());
    await client.query(`update credit_transfers set created_at = '${start.toISOString()}'`);
    await createSubscribers(client);
    const indexes = await dropIndexes(client);
    const step = (DAYS * DAY_MS) / jobs;
    for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
      signal.throwIfAborted();
      const [from, to] = [chunk, chunk + 1].map((n) => Math.floor((jobs * n) / CHUNKS)) as [number, number];
      await client.query(topUpsAt(new Date(start.getTime() + from * step)));
      await client.query('drop table if exists chunk');
      await client.query(chunkOf({ from: from + 1, to, jobs, start, step, hotEvery }));
      for (const statement of FROM_CHUNK) await client.query(statement);
      onProgress?.(`${to} jobs`);
    }
    await client.query(BALANCES);
    for (const index of indexes) {
      signal.throwIfAborted();
      await client.query(index);
    }
    onProgress?.(`${indexes.length} indexes`);
    // As autovacuum would have left it.
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
  return organizations;
}

/** No triggers: their checks of foreign keys would take most of the time. */
const SESSION = `
  set session_replication_role = replica;
  set synchronous_commit = off;
  set work_mem = '64MB';
  set maintenance_work_mem = '512MB'`;

/** Ids as `newId` makes them, whose first ten digits are those of the time; `n` makes the rest. */
function idFunction(): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  // A UUIDv7 is milliseconds times 2^80; its last 12 of 22 digits are dropped.
  const factor = Number(2n ** 80n) / Number(58n ** 12n);
  const digits = Array.from({ length: 10 }, (_, place) => {
    const weight = 58n ** BigInt(9 - place);
    return `substr('${alphabet}', (place / ${weight} % 58)::integer + 1, 1)`;
  });
  return `
    create or replace function pg_temp.id_digits(at timestamptz, n bigint) returns text language sql immutable as $$
      select ${digits.join(' || ')} || translate(substr(md5(n::text), 1, 12), '0', 'z')
      from (select floor(floor(extract(epoch from at) * 1000)::float8 * ${factor})::bigint as place) as time
    $$`;
}

const idOf = (kind: IdKind) => `'${ID_PREFIXES[kind]}' || digits`;

/** Every third organisation has a webhook endpoint, the hot one too, which also has a key of its own for its oldest jobs. */
async function createSubscribers(client: pg.Client): Promise<void> {
  await client.query(
    `insert into webhook_endpoints (id, organization_id, url, events, livemode, secrets)
     select 'whe_' || substr(id, 5), id, 'https://receiver.example/hook', '{job.succeeded,job.partial,job.failed}', true, '{sealed}'
     from organizations where right(id, 6)::integer % 3 = 1`,
  );
  await client.query(
    `insert into api_keys (id, organization_id, name, prefix, secret_hash, livemode, scopes, created_by)
     select $1, organization_id, 'Rare', 'chk_live_none', decode(repeat('00', 32), 'hex'), true, scopes, created_by
     from api_keys where id = $2`,
    [RARE_KEY, apiKeyId(1)],
  );
}

/** Drops the indexes that no constraint needs. Returns the statements that make them again. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any ($1::text[]::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
    [TABLES],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

const topUpsAt = (time: Date) => `
  insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason, created_at)
  select id, true, 'top_up', 'funding', 'available', 1000, 'benchmark', '${time.toISOString()}' from organizations order by id`;

interface Chunk {
  from: number;
  to: number;
  jobs: number;
  start: Date;
  /** Milliseconds from one job to the next. */
  step: number;
  /** Every how many-th job is of the hot organisation. */
  hotEvery: number;
}

/** Of a hundred jobs 94 succeed, and two each end partial and failed; one expires, and one is canceled. */
function chunkOf({ from, to, jobs, start, step, hotEvery }: Chunk): string {
  const random = (seed: number, below: string | number) => `((hashint8(n + ${seed}) & 2147483647) % ${below})::integer`;
  return `
    create temp table chunk as
    select n, at, at + interval '2 seconds' as ended_at, pg_temp.id_digits(at, n) as digits,
      'org_' || lpad(organization::text, ${ID_DIGITS}, '0') as organization_id, organization,
      case when is_rare then '${RARE_KEY}' else 'key_' || lpad(organization::text, ${ID_DIGITS}, '0') end as api_key_id,
      case when is_rare then '${RARE_ENDPOINT}'
        else ('{${ENDPOINTS.join(',')}}'::text[])[1 + ${random(11, ENDPOINTS.length)}] end as endpoint,
      case when n > ${jobs - OPEN_JOBS} then 'processing'
        when outcome < 94 then 'succeeded' when outcome < 96 then 'partial' when outcome < 98 then 'failed'
        when outcome = 98 then 'expired' else 'canceled' end as status
    from (
      select n, at, organization, ${random(7, 100)} as outcome,
        organization = 1 and n <= ${Math.ceil(jobs / 100)} as is_rare
      from (
        select n, '${start.toISOString()}'::timestamptz + (n - 1) * ${step} * interval '1 millisecond' as at,
          case when n % ${hotEvery} = 0 then 1
            else 2 + ${random(3, `(select greatest(count(*) - 1, 1) from organizations)`)} end as organization
        from generate_series(${from}::bigint, ${to}::bigint) as n
      ) as timed
    ) as assigned`;
}

const ENDED = `status <> 'processing'`;
const CHARGED = `case when status in ('succeeded', 'partial') then ${PRICE} else 0 end`;
const WITH_EVENT = `status in ('succeeded', 'partial', 'failed', 'expired')`;
const EVENT_TYPE = `case status when 'expired' then 'job.failed' else 'job.' || status end`;
const RESULT = `'{"cluster_lit":true,"odometer":{"value":48213,"unit":"km","confidence":0.97},"warning_lights":[],"fuel_level_percent":50}'`;

const FROM_CHUNK = [
  `insert into jobs (id, organization_id, api_key_id, endpoint, status, livemode, is_staging, parameters, inputs,
     reserved_credits, charged_credits, model_version, result, error, request_id, idempotency_key, created_at, started_at,
     completed_at, workflow_started_at, expiry_ms, due_at)
   select ${idOf('job')}, organization_id, api_key_id, endpoint, status, true, false, '{"read_warning_lights":true}',
     jsonb_build_array(jsonb_build_object('field', 'image', 'storageKey', 'jobs/job_' || digits || '.0', 'mediaType',
       'image/jpeg', 'bytes', 301245, 'sha256', md5(n::text) || md5(n::text), 'uploadId', null)),
     ${PRICE}, ${CHARGED}, 'reader@2026-01-01', case when status in ('succeeded', 'partial') then ${RESULT}::json end,
     case when status in ('failed', 'expired') then '{"type":"api_error","code":"model_inference_failed"}'::json end,
     ${idOf('request')}, md5(n::text), at, at + interval '1 second', case when ${ENDED} then ended_at end,
     at + interval '1 second', 600000, case when ${ENDED} then at else now() end + interval '1 day'
   from chunk order by n`,
  `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, job_id, created_at)
   select organization_id, true, kind, from_account, to_account, ${PRICE}, ${idOf('job')},
     case kind when 'hold' then at else ended_at end
   from chunk cross join (values ('hold', 'available', 'held'), ('capture', 'held', 'revenue'), ('release', 'held', 'available'))
     as transfer (kind, from_account, to_account)
   where kind = 'hold' or (${ENDED} and (kind = 'capture') = (${CHARGED} > 0))
   order by n, kind = 'hold' desc`,
  `insert into events (id, organization_id, livemode, is_staging, type, job_id, endpoint, payload, created_at)
   select ${idOf('event')}, organization_id, true, false, ${EVENT_TYPE}, ${idOf('job')}, endpoint,
     json_build_object('id', 'evt_' || digits, 'object', 'event', 'type', ${EVENT_TYPE}, 'data', json_build_object(
       'object', json_build_object('id', 'job_' || digits, 'status', status, 'endpoint', endpoint, 'result', ${RESULT}::json))),
     ended_at
   from chunk where ${WITH_EVENT} order by n`,
  `insert into webhook_deliveries (id, event_id, webhook_endpoint_id, status, created_at, completed_at, workflow_started_at, due_at)
   select ${idOf('webhookDelivery')}, ${idOf('event')}, 'whe_' || substr(organization_id, 5),
     case when hashint8(n + 5) % 100 = 0 then 'failed' else 'delivered' end, ended_at, ended_at + interval '1 second', ended_at,
     ended_at + interval '10 minutes'
   from chunk where ${WITH_EVENT} and organization % 3 = 1 order by n`,
  `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code)
   select ${idOf('webhookDelivery')}, 1, ended_at, 40, 200
   from chunk where ${WITH_EVENT} and organization % 3 = 1 order by n`,
  `insert into idempotency_claims (organization_id, livemode, route, key, fingerprint, response_status, response_body, expires_at)
   select organization_id, true, endpoint, md5(n::text), decode(md5(n::text) || md5(n::text), 'hex'), 202,
     json_build_object('id', 'job_' || digits, 'object', 'job', 'status', 'queued', 'endpoint', endpoint)::text,
     at + interval '1 day'
   from chunk where at > now() - ${DAYS * CLAIMED_SHARE} * interval '1 day' order by n`,
];

const BALANCES = `
  update credit_accounts as account set available = replay.available, held = replay.held, open_jobs = replay.open_jobs
  from (
    select organization_id,
      sum(case 'available' when to_account then amount when from_account then -amount else 0 end) as available,
      sum(case 'held' when to_account then amount when from_account then -amount else 0 end) as held,
      sum(case kind when 'hold' then 1 when 'capture' then -1 when 'release' then -1 else 0 end) as open_jobs
    from credit_transfers group by organization_id
  ) as replay
  where account.organization_id = replay.organization_id and livemode`;

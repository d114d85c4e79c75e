/**
 * Compatible: the first schema.
 *
 * Ids are text with a prefix; after it come 22 base58 characters of a UUIDv7, so in the "C" collation they sort by time.
 */
import { Migration } from '@mikro-orm/migrations';

export class Initial extends Migration {
  override up(): void {
    this.addSql(`
      create table organizations (
        id text collate "C" primary key,
        name text not null,
        created_at timestamptz not null default now()
      );

      create table api_keys (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        name text not null,
        prefix text not null,
        secret_hash bytea not null unique,
        -- The secret before the last rotation; it works until rotates_at.
        previous_secret_hash bytea unique,
        livemode boolean not null,
        is_staging boolean not null default false check (livemode or not is_staging),
        scopes text[] not null,
        created_by text collate "C" not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz,
        revoked_at timestamptz,
        expires_at timestamptz,
        rotates_at timestamptz
      );
      create index api_keys_organization on api_keys (organization_id);
    `);

    this.addSql(`
      create table uploads (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        livemode boolean not null,
        status text not null check (status in ('pending', 'ready')),
        filename text,
        media_type text not null,
        -- As announced while pending, as stored when ready.
        bytes bigint not null,
        -- What has arrived of an upload that comes in parts.
        received_bytes bigint not null default 0,
        sha256 text,
        storage_key text not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        -- Set by the first job that takes the upload as its input; a used upload no longer expires.
        used_at timestamptz
      );
      create index uploads_expiring on uploads (expires_at) where used_at is null;

      create table jobs (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        api_key_id text collate "C" not null references api_keys,
        endpoint text not null,
        status text not null
          check (status in ('queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled')),
        livemode boolean not null,
        is_staging boolean not null,
        test_scenario text,
        parameters jsonb not null,
        inputs jsonb not null,
        reserved_credits bigint not null check (reserved_credits >= 0),
        charged_credits bigint not null default 0 check (charged_credits between 0 and reserved_credits),
        -- The build that the request asked for, if it did, and the one that answers.
        pinned_model_version text,
        model_version text,
        -- json, not jsonb: the order of the fields is kept.
        result json,
        error json,
        -- Only of endpoints that run in stages.
        stages json,
        request_id text not null,
        idempotency_key text,
        created_at timestamptz not null,
        started_at timestamptz,
        completed_at timestamptz,
        -- The row is the outbox: null until it is known, by pick-up or sweeper, that Temporal has accepted the start.
        workflow_started_at timestamptz,
        -- Longest time in the queue.
        expiry_ms integer not null,
        -- By then the job should have ended; after it the sweeper makes sure that a workflow runs.
        due_at timestamptz not null,
        check ((completed_at is null) = (status in ('queued', 'processing')))
      );
      create index jobs_by_organization on jobs (organization_id, livemode, id desc);
      create index jobs_unstarted on jobs (created_at) where workflow_started_at is null and completed_at is null;
      create index jobs_due on jobs (due_at) where completed_at is null;

      -- What an inference worker found, until the settlement moves it to the job. Invisible to customers.
      create table inference_outcomes (
        job_id text collate "C" primary key references jobs,
        outcome json not null,
        created_at timestamptz not null default now()
      );
    `);

    this.addSql(`
      -- One row a balance. Staging keys draw on the live balance.
      create table credit_accounts (
        organization_id text collate "C" not null references organizations,
        livemode boolean not null,
        available bigint not null default 0 check (available >= 0),
        held bigint not null default 0 check (held >= 0),
        open_jobs integer not null default 0 check (open_jobs >= 0),
        primary key (organization_id, livemode)
      ) with (fillfactor = 50);

      -- The ledger: append only. A transfer takes from one account what it gives to another, so entries sum to zero.
      create table credit_transfers (
        id bigint generated always as identity primary key,
        organization_id text collate "C" not null,
        livemode boolean not null,
        kind text not null check (kind in ('top_up', 'hold', 'capture', 'release', 'adjustment')),
        from_account text not null check (from_account in ('funding', 'available', 'held', 'revenue')),
        to_account text not null check (to_account in ('funding', 'available', 'held', 'revenue')),
        amount bigint not null check (amount > 0),
        job_id text collate "C" references jobs,
        reason text,
        created_at timestamptz not null default now(),
        check (from_account <> to_account),
        -- No foreign key to credit_accounts: its check would lock the one row that all jobs of an organisation share.
        check ((kind in ('hold', 'capture', 'release')) = (job_id is not null))
      );
      create unique index credit_transfers_once on credit_transfers (job_id, kind) where job_id is not null;
      create index credit_transfers_by_account on credit_transfers (organization_id, livemode, id);

      create table idempotency_claims (
        organization_id text collate "C" not null,
        livemode boolean not null,
        route text not null,
        key text not null,
        -- SHA-256 of the canonical payload and the hashes of its files.
        fingerprint bytea not null,
        response_status integer not null,
        response_body text not null,
        -- While the first request still holds its connection; then the stored response is final.
        in_progress_until timestamptz,
        expires_at timestamptz not null,
        primary key (organization_id, livemode, route, key)
      );
      create index idempotency_claims_expiring on idempotency_claims (expires_at);

      -- Requests of the window that ends at resets_at. Losing them in a crash only forgives a minute of requests.
      create unlogged table rate_limits (
        key text collate "C" primary key,
        requests integer not null,
        resets_at timestamptz not null
      ) with (fillfactor = 50);

      -- What the inference workers can run in live mode.
      create table installed_endpoints (
        endpoint text primary key,
        model_version text not null,
        announced_at timestamptz not null default now()
      );
    `);

    this.addSql(`
      create table webhook_endpoints (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        url text not null,
        description text not null default '',
        events text[] not null,
        status text not null default 'enabled' check (status in ('enabled', 'disabled')),
        livemode boolean not null,
        is_staging boolean not null default false check (livemode or not is_staging),
        -- The active signing secrets, newest first; two while a rotation is in its grace period.
        secrets text[] not null check (cardinality(secrets) between 1 and 2),
        consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
        -- When the present run of failures began; null after a success.
        failing_since timestamptz,
        last_success_at timestamptz,
        last_error text,
        created_at timestamptz not null default now()
      );
      create index webhook_endpoints_listening on webhook_endpoints (organization_id, livemode, is_staging);

      create table events (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        livemode boolean not null,
        is_staging boolean not null,
        type text not null,
        job_id text collate "C" not null references jobs,
        -- The exact bytes that every delivery carries and signs.
        payload text not null,
        created_at timestamptz not null,
        -- A job ends once, so it has one event.
        unique (job_id)
      );
      create index events_by_organization on events (organization_id, livemode, id desc);

      create table webhook_deliveries (
        id text collate "C" primary key,
        event_id text collate "C" not null references events,
        webhook_endpoint_id text collate "C" not null references webhook_endpoints on delete cascade,
        status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
        created_at timestamptz not null default now(),
        completed_at timestamptz,
        workflow_started_at timestamptz
      );
      create index webhook_deliveries_by_endpoint on webhook_deliveries (webhook_endpoint_id, id desc);
      create index webhook_deliveries_unstarted on webhook_deliveries (created_at)
        where workflow_started_at is null and status = 'pending';

      create table webhook_attempts (
        delivery_id text collate "C" not null references webhook_deliveries on delete cascade,
        attempt integer not null,
        attempted_at timestamptz not null,
        duration_ms integer not null,
        -- The receiver's HTTP status; null when no answer came.
        status_code integer,
        error text,
        primary key (delivery_id, attempt)
      );
    `);
  }

  override down(): void {
    throw new Error('the first migration is not undone: drop the database instead');
  }
}

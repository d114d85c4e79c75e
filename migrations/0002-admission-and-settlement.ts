/**
 * Compatible: adds the two procedures through which credits of jobs move.
 *
 * Each is one round trip and one transaction. In both, the account's row comes last: it is the one row that all jobs of
 * an organisation share, and it stays locked only from there to the commit.
 *
 * That commit does not wait for the disk, or the jobs of an organisation would wait for it one after another. A second
 * commit does, of a record that nobody reads, before the procedure answers: the log is written in order, so what the
 * procedure did is on disk with it. docs/adr/0014 has the reasons.
 */
import { Migration } from '@mikro-orm/migrations';

export class AdmissionAndSettlement extends Migration {
  override up(): void {
    this.addSql(`
      -- Claims an idempotency key for 24 hours. Answers 'claimed', or what an earlier request with the same key left:
      -- 'replay' with its stored response, 'in_progress', or 'key_reuse' when its payload was another one. A concurrent
      -- claim of the same key waits here for the first one's transaction.
      create function claim_idempotency_key(
        p_organization_id text,
        p_livemode boolean,
        p_route text,
        p_key text,
        p_fingerprint bytea,
        p_response_status integer,
        p_response_body text,
        p_in_progress_until timestamptz,
        out outcome text,
        out response_status integer,
        out response_body text
      ) language plpgsql as $$
      declare
        claim idempotency_claims;
      begin
        insert into idempotency_claims as known
          (organization_id, livemode, route, key, fingerprint, response_status, response_body, in_progress_until,
           expires_at)
        values
          (p_organization_id, p_livemode, p_route, p_key, p_fingerprint, p_response_status, p_response_body,
           p_in_progress_until, now() + interval '24 hours')
        on conflict (organization_id, livemode, route, key) do update set
          fingerprint = excluded.fingerprint,
          response_status = excluded.response_status,
          response_body = excluded.response_body,
          in_progress_until = excluded.in_progress_until,
          expires_at = excluded.expires_at
        where known.expires_at <= now();
        if found then
          outcome := 'claimed';
          return;
        end if;

        select * into strict claim from idempotency_claims as known
        where known.organization_id = p_organization_id and known.livemode = p_livemode and known.route = p_route
          and known.key = p_key;
        if claim.fingerprint <> p_fingerprint then
          outcome := 'key_reuse';
        elsif claim.in_progress_until > now() then
          outcome := 'in_progress';
        else
          outcome := 'replay';
          response_status := claim.response_status;
          response_body := claim.response_body;
        end if;
      end $$;
    `);

    this.addSql(`
      -- Ends the procedure's transaction without waiting for the disk, and waits for it afterwards.
      create procedure commit_then_flush() language plpgsql as $$
      begin
        perform set_config('synchronous_commit', 'off', true);
        commit;
        perform pg_logical_emit_message(true, 'flush', '');
        commit;
      end $$;

      -- Claims the idempotency key, creates the job and holds its credits: all or nothing.
      --
      -- Answers 'admitted', or what claim_idempotency_key answers of an earlier request. Raises VI402 when the balance is
      -- too low, VI429 when too many jobs are open and VI404 when an upload is no longer there; the claim is undone then.
      create procedure admit_job(
        p_job jobs,
        p_concurrency_limit integer,
        p_upload_ids text[],
        p_route text,
        p_fingerprint bytea,
        p_response_status integer,
        p_response_body text,
        p_in_progress_until timestamptz,
        out outcome text,
        out response_status integer,
        out response_body text
      ) language plpgsql as $$
      declare
        account credit_accounts;
        uploads_found integer;
      begin
        if p_job.idempotency_key is not null then
          select claim.* into outcome, response_status, response_body
          from claim_idempotency_key(p_job.organization_id, p_job.livemode, p_route, p_job.idempotency_key, p_fingerprint,
            p_response_status, p_response_body, p_in_progress_until) as claim;
          if outcome <> 'claimed' then
            -- What the earlier request did may still be on its way to the disk, and is answered for a second time here.
            call commit_then_flush();
            return;
          end if;
        end if;

        insert into jobs select p_job.*;

        if cardinality(p_upload_ids) > 0 then
          update uploads set used_at = coalesce(used_at, now())
          where id = any (p_upload_ids) and organization_id = p_job.organization_id and livemode = p_job.livemode
            and status = 'ready' and (used_at is not null or expires_at > now());
          get diagnostics uploads_found = row_count;
          if uploads_found < cardinality(p_upload_ids) then
            raise exception 'upload gone' using errcode = 'VI404';
          end if;
        end if;

        if p_job.reserved_credits > 0 then
          insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, job_id)
          values (p_job.organization_id, p_job.livemode, 'hold', 'available', 'held', p_job.reserved_credits, p_job.id);
        end if;

        loop
          update credit_accounts as known set
            available = available - p_job.reserved_credits,
            held = held + p_job.reserved_credits,
            open_jobs = open_jobs + 1
          where known.organization_id = p_job.organization_id and known.livemode = p_job.livemode
            and available >= p_job.reserved_credits and open_jobs < p_concurrency_limit;
          exit when found;

          select * into account from credit_accounts as known
          where known.organization_id = p_job.organization_id and known.livemode = p_job.livemode;
          if not found or account.available < p_job.reserved_credits then
            raise exception 'balance too low' using errcode = 'VI402', detail = coalesce(account.available, 0);
          elsif account.open_jobs >= p_concurrency_limit then
            raise exception 'too many open jobs' using errcode = 'VI429', detail = account.open_jobs;
          end if;
          -- Between the two statements somebody topped up or a job ended: nothing stands in the way any more.
        end loop;
        outcome := 'admitted';
        call commit_then_flush();
      end $$;
    `);

    this.addSql(`
      -- Ends a job: status, result, ledger, event and deliveries together. Answers false, and does nothing, when the
      -- job is not in one of the statuses it may leave: exactly one of pick-up, cancellation, expiry and settlement wins.
      create procedure settle_job(
        p_job_id text,
        p_from_statuses text[],
        p_status text,
        p_result json,
        p_error json,
        p_stages json,
        p_charged_credits bigint,
        p_completed_at timestamptz,
        p_event_id text,
        p_event_type text,
        p_event_payload text,
        p_delivery_ids text[],
        p_webhook_endpoint_ids text[],
        out settled boolean
      ) language plpgsql as $$
      declare
        job jobs;
      begin
        update jobs set
          status = p_status,
          result = p_result,
          error = p_error,
          stages = coalesce(p_stages, stages),
          charged_credits = p_charged_credits,
          completed_at = p_completed_at
        where id = p_job_id and status = any (p_from_statuses)
        returning * into job;
        settled := found;
        if not settled then
          -- The caller will act on what another transition did, which may still be on its way to the disk.
          call commit_then_flush();
          return;
        end if;

        delete from inference_outcomes where job_id = p_job_id;

        if p_event_id is not null then
          insert into events (id, organization_id, livemode, is_staging, type, job_id, payload, created_at)
          values (p_event_id, job.organization_id, job.livemode, job.is_staging, p_event_type, job.id, p_event_payload,
                  p_completed_at);
          insert into webhook_deliveries (id, event_id, webhook_endpoint_id)
          select delivery.id, p_event_id, webhook_endpoints.id
          from unnest(p_delivery_ids, p_webhook_endpoint_ids) as delivery (id, webhook_endpoint_id)
          join webhook_endpoints on webhook_endpoints.id = delivery.webhook_endpoint_id;
        end if;

        insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, job_id)
        select job.organization_id, job.livemode, kind, 'held', to_account, amount, job.id
        from (values
          ('capture', 'revenue', p_charged_credits),
          ('release', 'available', job.reserved_credits - p_charged_credits)
        ) as transfer (kind, to_account, amount)
        where amount > 0;

        update credit_accounts set
          held = held - job.reserved_credits,
          available = available + job.reserved_credits - p_charged_credits,
          open_jobs = open_jobs - 1
        where organization_id = job.organization_id and livemode = job.livemode;
        call commit_then_flush();

        -- In a transaction of its own, which writes nothing: one that notifies lets no other such commit beside it.
        perform pg_notify('job_settled', p_job_id);
      end $$;
    `);
  }

  override down(): void {
    this.addSql('drop procedure settle_job; drop procedure admit_job; drop procedure commit_then_flush;');
    this.addSql('drop function claim_idempotency_key;');
  }
}

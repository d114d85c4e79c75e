/**
 * Compatible: adds the look-up of a caller as a function, and the procedure that checks a caller and admits a job.
 */
import { Migration } from '@mikro-orm/migrations';

export class KnownCallers extends Migration {
  override up(): void {
    this.addSql(`
      -- Counts a request under a key, in windows that begin with their first request.
      create function count_request(p_key text, p_window interval, out requests integer, out reset_seconds integer)
      language sql as $$
        insert into rate_limits as known (key, requests, resets_at) values (p_key, 1, clock_timestamp() + p_window)
        on conflict (key) do update set
          requests = case when known.resets_at <= clock_timestamp() then 1 else known.requests + 1 end,
          resets_at = case when known.resets_at <= clock_timestamp() then excluded.resets_at else known.resets_at end
        returning requests, greatest(ceil(extract(epoch from resets_at - clock_timestamp())), 0)::integer
      $$;

      -- Whose key the secret is, and what it may go by. Counts the request under p_rate_name where the key can be used and
      -- that is not null. Every answer is null when nobody has the secret.
      --
      -- The secret from before a rotation works until rotates_at, and never past expires_at; each boundary instant itself
      -- is already too late. Two index look-ups: an "or" over both columns would read the whole table.
      create function find_caller(
        p_secret_hash bytea,
        p_now timestamptz,
        p_rate_name text,
        p_window interval,
        p_endpoint text,
        out caller api_keys,
        out state text,
        out requests integer,
        out reset_seconds integer,
        out is_endpoint_installed boolean
      ) language plpgsql as $$
      declare
        is_current boolean := true;
      begin
        select * into caller from api_keys where secret_hash = p_secret_hash;
        if not found then
          is_current := false;
          select * into caller from api_keys where previous_secret_hash = p_secret_hash;
          if not found then
            return;
          end if;
        end if;
        state := case
          when caller.revoked_at is not null then 'revoked'
          when caller.expires_at <= p_now then 'expired'
          when is_current or caller.rotates_at > p_now then 'usable'
          else 'expired'
        end;
        if state = 'usable' and p_rate_name is not null then
          select counted.requests, counted.reset_seconds into requests, reset_seconds
          from count_request(
            caller.organization_id || ':' || p_rate_name || case when caller.livemode then ':live' else ':test' end,
            p_window
          ) as counted;
        end if;
        is_endpoint_installed := exists (select from installed_endpoints where endpoint = p_endpoint);
      end $$;
    `);

    this.addSql(`
      -- Checks the caller and admits the job, as find_caller and admit_job do one after the other.
      --
      -- The caller was known before, and the job was made for what was known. Answers 'not_as_known', and does nothing, when
      -- any of that has changed, the request is one too many or the endpoint has no model: the caller is to be looked up
      -- then, before anything else. What admit_job refuses is not counted either. Without a p_rate_name nothing is counted:
      -- it was before.
      create procedure admit_job_of_known_caller(
        p_secret_hash bytea,
        p_now timestamptz,
        -- Separated by spaces.
        p_known_scopes text,
        p_rate_name text,
        p_rate_limit integer,
        p_window interval,
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
        out response_body text,
        out requests integer,
        out reset_seconds integer
      ) language plpgsql as $$
      declare
        found_caller record;
        key api_keys;
      begin
        select * into found_caller
        from find_caller(p_secret_hash, p_now, p_rate_name, p_window, p_job.endpoint);
        key := found_caller.caller;
        requests := found_caller.requests;
        reset_seconds := found_caller.reset_seconds;
        if found_caller.state = 'usable' and key.id = p_job.api_key_id
          and key.organization_id = p_job.organization_id and key.livemode = p_job.livemode
          and key.is_staging = p_job.is_staging and array_to_string(key.scopes, ' ') = p_known_scopes
          and (p_rate_name is null or requests <= p_rate_limit) and (found_caller.is_endpoint_installed or not p_job.livemode)
        then
          call admit_job(p_job, p_concurrency_limit, p_upload_ids, p_route, p_fingerprint, p_response_status,
            p_response_body, p_in_progress_until, outcome, response_status, response_body);
        else
          rollback;
          outcome := 'not_as_known';
        end if;
      end $$;
    `);
  }

  override down(): void {
    this.addSql('drop procedure admit_job_of_known_caller; drop function find_caller; drop function count_request;');
  }
}

/** Which releases serve, and which are on trial, by an operator's choice. Each change is one statement. */
import type { ReleaseChoice, Trial } from '../contracts/release-choice.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

export interface RecordedChoice extends ReleaseChoice {
  endpoint: string;
  /** The release that served before it; null when nothing was promoted. */
  previous: string | null;
}

const CHOICE = `endpoint, serving, previous,
  case when trial is not null
    then json_build_object('modelVersion', trial, 'mode', mode, 'sharePercent', share_percent) end as trial`;

export function listChoices(em: EntityManager): Promise<RecordedChoice[]> {
  return query(em, `select ${CHOICE} from release_choices order by endpoint`);
}

/** By endpoint. */
export async function readChoices(em: EntityManager): Promise<ReadonlyMap<string, ReleaseChoice>> {
  return new Map((await listChoices(em)).map((choice) => [choice.endpoint, choice]));
}

/**
 * Tries a release beside the one that serves, which then serves on even if a newer one is installed. Replaces a trial that runs.
 * Null when the release serves already, or nothing serves the endpoint.
 */
export async function beginTrial(
  em: EntityManager,
  endpoint: string,
  { modelVersion, mode, sharePercent }: Trial,
): Promise<RecordedChoice | null> {
  const [choice] = await query<RecordedChoice>(
    em,
    `insert into release_choices (endpoint, serving, trial, mode, share_percent)
     select $1, serving, $2, $3, $4 from (
       select coalesce(
         (select serving from release_choices where endpoint = $1),
         (select model_version from installed_endpoints where endpoint = $1)
       ) as serving
     ) as now
     where serving <> $2
     on conflict (endpoint) do update
       set trial = excluded.trial, mode = excluded.mode, share_percent = excluded.share_percent, changed_at = now()
     returning ${CHOICE}`,
    [endpoint, modelVersion, mode, sharePercent],
  );
  return choice ?? null;
}

/** Lets the release on trial serve. Null when none is, or no worker has it. */
export async function promoteTrial(em: EntityManager, endpoint: string): Promise<RecordedChoice | null> {
  const [choice] = await query<RecordedChoice>(
    em,
    `update release_choices
     set previous = serving, serving = trial, trial = null, mode = null, share_percent = null, changed_at = now()
     where endpoint = $1
       and (endpoint, trial) in (select endpoint, model_version from installed_builds where endpoint = $1)
     returning ${CHOICE}`,
    [endpoint],
  );
  return choice ?? null;
}

/** Ends the trial; without one, lets the release serve that served before the last promotion. Null when there is neither. */
export async function rollBack(em: EntityManager, endpoint: string): Promise<RecordedChoice | null> {
  const [choice] = await query<RecordedChoice>(
    em,
    `update release_choices set
       serving = case when trial is null then previous else serving end,
       previous = case when trial is null then null else previous end,
       trial = null, mode = null, share_percent = null, changed_at = now()
     where endpoint = $1 and (trial is not null or previous is not null)
     returning ${CHOICE}`,
    [endpoint],
  );
  return choice ?? null;
}

/** Lets the newest installed release serve again. Null when nothing was chosen. */
export async function forgetChoice(em: EntityManager, endpoint: string): Promise<RecordedChoice | null> {
  const [choice] = await query<RecordedChoice>(
    em,
    `delete from release_choices where endpoint = $1 returning ${CHOICE}`,
    [endpoint],
  );
  return choice ?? null;
}

/** Whether the release is now in the shadow of the endpoint. */
export async function isInShadow(em: EntityManager, endpoint: string, modelVersion: string): Promise<boolean> {
  const rows = await query(em, `select from release_choices where endpoint = $1 and trial = $2 and mode = 'shadow'`, [
    endpoint,
    modelVersion,
  ]);
  return rows.length > 0;
}

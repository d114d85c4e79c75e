/** Usage of the organisation. */
import { Type } from 'typebox';
import { JOB_STATUSES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { creditsInUsd } from '../../credits/money.ts';
import { readUsage, USAGE_GROUPS, type Usage } from '../../credits/usage-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { usd } from './billing.ts';
import { defineOperation } from './operation.ts';

const DAY_MS = 24 * 60 * 60_000;
const LONGEST_DAYS = 92;
const DEFAULT_DAYS = 30;
/** Days that PostgreSQL and JavaScript write alike, as is the day after the last. */
const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '9999-12-30'];
const MODES = ['live', 'staging', 'test'] as const;

const date = (description: string) => Type.Optional(Type.String({ format: 'date', description }));

const getUsage = defineOperation({
  id: 'getUsage',
  method: 'get',
  path: '/mgmt/v1/usage',
  tag: 'Usage',
  summary: 'Jobs and charged credits, by day, endpoint, key and mode',
  description:
    'A job counts on the UTC day of its admission and is charged when it ends, so the figures of recent days still ' +
    `change. A response covers at most ${LONGEST_DAYS} days.`,
  permission: 'usage:read',
  query: Type.Object(
    {
      from: date(`First day, such as \`2026-11-01\`. Default: ${DEFAULT_DAYS - 1} days before the last.`),
      to: date('Last day. Default: today.'),
      group_by: Type.Array(Type.Enum([...USAGE_GROUPS]), {
        default: ['day'],
        uniqueItems: true,
        minItems: 1,
        description: 'Dimensions to group by; repeat the parameter for several.',
      }),
      mode: Type.Optional(Type.Enum([...MODES])),
      endpoint: Type.Optional(Type.String({ description: 'Dotted slug.' })),
      api_key_id: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  response: closed({
    object: Type.Literal('usage'),
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    data: Type.Array(
      closed({
        day: nullable(Type.String({ format: 'date' })),
        endpoint: nullable(Type.String()),
        api_key_id: nullable(Type.String()),
        mode: nullable(Type.Enum([...MODES])),
        jobs: closed(
          Object.fromEntries(['total', ...JOB_STATUSES].map((status) => [status, Type.Integer({ minimum: 0 })])),
        ),
        credits_charged: Type.Integer({ minimum: 0 }),
        charged_usd: { ...usd, description: 'US dollars, an exact decimal. Test credits cost nothing.' },
      }),
      { description: 'Newest day first. Dimensions that were not grouped by are null.' },
    ),
  }),
  async handle({ em, services, member, query, now }) {
    for (const param of ['from', 'to'] as const) {
      const day = query[param];
      if (day === undefined || (day >= FIRST_DAY && day <= LAST_DAY)) continue;
      throw new ServiceError('parameter_invalid', `"${param}" must be from ${FIRST_DAY} to ${LAST_DAY}.`, { param });
    }
    const to = query.to ?? dayOf(now);
    const from = query.from ?? dayOf(new Date(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS));
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
    if (days < 1 || days > LONGEST_DAYS) {
      throw new ServiceError(
        'parameter_invalid',
        `"from" must be at most ${LONGEST_DAYS - 1} days before "to", and not after it.`,
        { param: 'from' },
      );
    }
    const usage = await readUsage(em, {
      organizationId: member.organizationId,
      from,
      to,
      groupBy: query.group_by,
      livemode: query.mode === undefined ? undefined : query.mode !== 'test',
      isStaging: query.mode === undefined ? undefined : query.mode === 'staging',
      endpoint: query.endpoint,
      apiKeyId: query.api_key_id,
    });
    return { object: 'usage', from, to, data: usage.map((group) => renderUsage(group, services.creditsPerUsd)) };
  },
});

function renderUsage(
  { day, endpoint, apiKeyId, mode, jobs, chargedCredits, paidCredits }: Usage,
  creditsPerUsd: number,
) {
  const counts = JOB_STATUSES.map((status) => [status, jobs[status] ?? 0] as const);
  return {
    day,
    endpoint,
    api_key_id: apiKeyId,
    mode,
    jobs: { total: counts.reduce((sum, [, count]) => sum + count, 0), ...Object.fromEntries(counts) },
    credits_charged: chargedCredits,
    charged_usd: creditsInUsd(paidCredits, creditsPerUsd),
  };
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

export const usageOperations = [getUsage];

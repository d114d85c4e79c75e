/** Prices and statements. */
import { Type } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { creditsInUsd } from '../../credits/money.ts';
import {
  closingCredits,
  monthBounds,
  monthOf,
  renderStatementCsv,
  STATEMENT_KINDS,
  type Statement,
} from '../../credits/statements.ts';
import { readStatement, readStatements } from '../../credits/statements-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { pageOf } from './fields.ts';
import { defineOperation, TextResponse } from './operation.ts';

const TAG = 'Billing';

/** Text, because floating point is not exact. */
export const usd = Type.String({
  pattern: String.raw`^-?\d+\.\d{2,6}$`,
  description: 'US dollars, an exact decimal.',
});

const listPrices = defineOperation({
  id: 'listPrices',
  method: 'get',
  path: '/mgmt/v1/prices',
  tag: TAG,
  summary: 'List the prices of the endpoints',
  permission: 'billing:read',
  response: closed({
    object: Type.Literal('price_list'),
    credits_per_usd: Type.Integer({ minimum: 1 }),
    data: Type.Array(
      closed({
        endpoint: Type.String({ description: 'Dotted slug.' }),
        title: Type.String(),
        family: Type.String(),
        preview: Type.Boolean(),
        price_credits: Type.Integer({
          minimum: 0,
          description: 'Price of any request, or of a minimal one where the price depends on the request.',
        }),
        price_usd: usd,
        depends_on_request: Type.Boolean({ description: 'Whether the price depends on the request.' }),
      }),
    ),
  }),
  async handle({ services: { endpoints, creditsPerUsd } }) {
    const data = endpoints.map((endpoint: EndpointContract) => ({
      endpoint: endpoint.slug,
      title: endpoint.title,
      family: endpoint.family,
      preview: endpoint.preview,
      price_credits: endpoint.priceCredits,
      price_usd: creditsInUsd(endpoint.priceCredits, creditsPerUsd),
      depends_on_request: endpoint.price !== undefined,
    }));
    return { object: 'price_list', credits_per_usd: creditsPerUsd, data };
  },
});

const line = closed({
  kind: Type.Enum([...STATEMENT_KINDS]),
  endpoint: nullable(Type.String({ description: 'The endpoint of captures.' })),
  count: Type.Integer({ minimum: 1 }),
  credits: Type.Integer({ description: 'Negative when they left the balance.' }),
  usd,
});

const statement = closed({
  object: Type.Literal('statement'),
  month: Type.String({ pattern: String.raw`^\d{4}-\d{2}$`, description: 'In UTC.' }),
  livemode: Type.Boolean(),
  is_final: Type.Boolean({ description: 'False until the month has ended.' }),
  credits_per_usd: Type.Integer({ minimum: 1 }),
  opening_balance: closed({ credits: Type.Integer(), usd }, 'Available and held credits together.'),
  lines: Type.Array(line, { description: 'The opening balance and all lines add up to the closing balance.' }),
  closing_balance: closed({ credits: Type.Integer(), usd }),
});

const livemode = Type.Boolean({ default: true, description: 'The live or the test balance.' });
const statementQuery = Type.Object({ livemode }, { additionalProperties: false });

const listStatements = defineOperation({
  id: 'listStatements',
  method: 'get',
  path: '/mgmt/v1/statements',
  tag: TAG,
  summary: 'List the statements of all months, newest first',
  description: 'Captures are summed over all endpoints; the statement of a single month lists them by endpoint.',
  permission: 'billing:read',
  query: statementQuery,
  response: pageOf(statement),
  async handle({ em, services, member, query, now }) {
    const key = { organizationId: member.organizationId, livemode: query.livemode };
    const statements = await readStatements(em, key, now);
    const data = statements.map((one) => renderStatement(one, services.creditsPerUsd, now));
    return { object: 'list', data, has_more: false };
  },
});

const getStatement = defineOperation({
  id: 'getStatement',
  method: 'get',
  path: '/mgmt/v1/statements/{month}',
  tag: TAG,
  summary: 'Read the statement of a month',
  description:
    'The format of a month is `2026-11`. With `Accept: text/csv`, or as `2026-11.csv`, the response is comma-separated ' +
    'values with one row for each line of the statement and for both balances.',
  permission: 'billing:read',
  query: statementQuery,
  response: statement,
  otherMediaTypes: ['text/csv'],
  async handle({ em, services, member, parameters, query, accept, now }) {
    const requested = parameters.month ?? '';
    const month = requested.replace(/\.csv$/, '');
    const bounds = monthBounds(month);
    if (!bounds) {
      throw new ServiceError('parameter_invalid', '"month" must be a month such as 2026-11.', { param: 'month' });
    }
    if (bounds.start > now) {
      throw new ServiceError('resource_not_found', `The month ${month} has not begun.`, { param: 'month' });
    }
    const key = { organizationId: member.organizationId, livemode: query.livemode };
    const found = await readStatement(em, key, bounds);
    return requested !== month || /\btext\/csv\b/.test(accept)
      ? new TextResponse('text/csv', renderStatementCsv(found, services.creditsPerUsd))
      : renderStatement(found, services.creditsPerUsd, now);
  },
});

function renderStatement(found: Statement, creditsPerUsd: number, now: Date) {
  const money = (credits: number) => ({ credits, usd: creditsInUsd(credits, creditsPerUsd) });
  return {
    object: 'statement',
    month: found.month,
    livemode: found.livemode,
    is_final: found.month < monthOf(now),
    credits_per_usd: creditsPerUsd,
    opening_balance: money(found.openingCredits),
    lines: found.lines.map(({ kind, endpoint, count, credits }) => ({ kind, endpoint, count, ...money(credits) })),
    closing_balance: money(closingCredits(found)),
  };
}

export const billingOperations = [listPrices, listStatements, getStatement];

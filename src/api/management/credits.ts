/** Credits of the organisation: balances, ledger, top-ups. */
import { Type } from 'typebox';
import { MAXIMUM_CREDITS, TRANSFER_KINDS } from '../../contracts/credits.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { type CreditBalance, readCreditBalances, setLowBalanceThreshold } from '../../credits/credit-balances-store.ts';
import { topUp } from '../../credits/credit-bookings-store.ts';
import { leftOf, leftOfAll } from '../../credits/credit-grants.ts';
import type { CreditTransfer } from '../../credits/entities.ts';
import { createCheckout } from '../../credits/payments/checkout.ts';
import type { Checkout } from '../../credits/payments/payment-provider.ts';
import { findTransfers } from '../../credits/transfers-store.ts';
import { epochSeconds as inSeconds } from '../../platform/epoch-seconds.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { createdParameters, pageParameters } from '../requests/query.ts';
import { epochSeconds, pageOf, renderPage } from './fields.ts';
import { defineOperation, type ManagementServices } from './operation.ts';

const TAG = 'Credits';
const credits = Type.Integer({ minimum: 0 });
const livemode = Type.Boolean({ description: 'Staging keys use the live balance.' });

const creditBalance = closed({
  object: Type.Literal('credit_balance'),
  livemode,
  available: Type.Integer({ minimum: 0, description: 'Credits that new jobs can hold.' }),
  held: Type.Integer({ minimum: 0, description: 'Credits held by open jobs.' }),
  promotional: closed(
    {
      credits,
      grants: Type.Array(
        closed({
          id: Type.String({ pattern: '^grt_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
          granted: credits,
          credits: Type.Integer({ minimum: 0, description: 'Remaining credits of the grant.' }),
          expires_at: epochSeconds,
        }),
        { description: 'In order of use.' },
      ),
    },
    'The promotional part of both: used first, and removed from the balance when it expires.',
  ),
  low_balance_threshold: nullable(Type.Integer({ minimum: 1 })),
  is_low: Type.Boolean({ description: 'Whether available and held credits together are below the threshold.' }),
  top_up: Type.Enum(['free', 'checkout', 'unavailable'], {
    description:
      'How `POST /mgmt/v1/credits/top-ups` adds credits to this balance: at once and free, after a payment, or not at all ' +
      'because no payment provider is configured.',
  }),
});

function renderBalance(
  { available, held, grants, lowBalanceThreshold, livemode }: CreditBalance,
  { payments }: Pick<ManagementServices, 'payments'>,
) {
  return {
    object: 'credit_balance',
    livemode,
    available,
    held,
    promotional: {
      credits: leftOfAll(grants),
      grants: grants.map((grant) => ({
        id: grant.id,
        granted: grant.amount,
        credits: leftOf(grant),
        expires_at: inSeconds(grant.expiresAt),
      })),
    },
    low_balance_threshold: lowBalanceThreshold,
    is_low: lowBalanceThreshold !== null && available + held < lowBalanceThreshold,
    top_up: livemode ? (payments ? 'checkout' : 'unavailable') : 'free',
  };
}

const getCredits = defineOperation({
  id: 'getCredits',
  method: 'get',
  path: '/mgmt/v1/credits',
  tag: TAG,
  summary: 'Read the live and the test balance',
  permission: 'credits:read',
  response: closed({ object: Type.Literal('list'), data: Type.Array(creditBalance), has_more: Type.Literal(false) }),
  async handle({ em, services, member }) {
    const balances = await readCreditBalances(em, member.organizationId);
    return { object: 'list', data: balances.map((balance) => renderBalance(balance, services)), has_more: false };
  },
});

const updateCredits = defineOperation({
  id: 'updateCredits',
  method: 'patch',
  path: '/mgmt/v1/credits',
  tag: TAG,
  summary: 'Set the low-balance threshold',
  description:
    'When available and held credits together fall below the threshold, the event `credits.low_balance` is written once, ' +
    'and again only after the balance has been above the threshold. `GET /v1/events` lists it.',
  permission: 'credits:write',
  body: Type.Object(
    {
      livemode,
      low_balance_threshold: nullable(
        Type.Integer({ minimum: 1, maximum: MAXIMUM_CREDITS, description: 'Credits; null disables the event.' }),
      ),
    },
    { additionalProperties: false },
  ),
  response: creditBalance,
  async handle({ em, services, member, body }) {
    await setLowBalanceThreshold(
      em,
      { organizationId: member.organizationId, livemode: body.livemode },
      body.low_balance_threshold,
    );
    const balances = await readCreditBalances(em, member.organizationId);
    const changed = balances.find((balance) => balance.livemode === body.livemode);
    if (!changed) throw new Error('a balance of a mode is missing');
    return renderBalance(changed, services);
  },
});

const ledgerAccount = Type.Enum(['funding', 'available', 'held', 'revenue']);
const ENTRY_ID = /^ctr_([1-9]\d{0,18})$/;

const creditTransfer = closed({
  id: Type.String({ pattern: ENTRY_ID.source }),
  object: Type.Literal('credit_transfer'),
  livemode,
  kind: Type.Enum([...TRANSFER_KINDS]),
  from: ledgerAccount,
  to: ledgerAccount,
  credits: Type.Integer({ minimum: 1 }),
  job_id: nullable(Type.String({ description: 'The job of a hold, capture or release.' })),
  grant_id: nullable(Type.String({ description: 'The grant of a promotion or expiry.' })),
  reason: nullable(Type.String()),
  created: epochSeconds,
});

function renderTransfer(transfer: CreditTransfer) {
  return {
    id: `ctr_${transfer.id}`,
    object: 'credit_transfer',
    livemode: transfer.livemode,
    kind: transfer.kind,
    from: transfer.fromAccount,
    to: transfer.toAccount,
    credits: transfer.amount,
    job_id: transfer.jobId,
    grant_id: transfer.grantId,
    reason: transfer.reason,
    created: inSeconds(transfer.createdAt),
  };
}

const listCreditTransfers = defineOperation({
  id: 'listCreditTransfers',
  method: 'get',
  path: '/mgmt/v1/credits/ledger',
  tag: TAG,
  summary: 'List all transfers of credits, newest first',
  permission: 'credits:read',
  query: Type.Object(
    {
      ...pageParameters,
      livemode: Type.Optional(livemode),
      kind: Type.Optional(Type.Enum([...TRANSFER_KINDS])),
      job_id: Type.Optional(Type.String()),
      ...createdParameters,
    },
    { additionalProperties: false },
  ),
  response: pageOf(creditTransfer),
  async handle({ em, member, query }) {
    const { starting_after: after, ending_before: before, ...filter } = query;
    const page = await findTransfers(em, member.organizationId, {
      ...filter,
      ...cursorOf('starting_after', after),
      ...cursorOf('ending_before', before),
    });
    return renderPage(page, renderTransfer);
  },
});

/** The position of a transfer in the ledger. @throws ServiceError when the id is malformed */
function cursorOf(param: 'starting_after' | 'ending_before', id: string | undefined) {
  if (id === undefined) return {};
  const place = ENTRY_ID.exec(id)?.[1];
  if (place === undefined || BigInt(place) > 2n ** 63n - 1n) {
    throw new ServiceError('parameter_invalid', `"${param}" must be the id of a transfer, ctr_….`, { param });
  }
  return { [param]: place };
}

const topUpCredits = defineOperation({
  id: 'topUpCredits',
  method: 'post',
  path: '/mgmt/v1/credits/top-ups',
  tag: TAG,
  summary: 'Top up a balance',
  description:
    'Test credits are free and added at once. For live credits the response contains the address of a checkout; they are ' +
    'added once the payment provider confirms the payment.',
  permission: 'credits:write',
  status: 201,
  body: Type.Object(
    {
      livemode: Type.Boolean(),
      credits: Type.Integer({ minimum: 1, maximum: MAXIMUM_CREDITS }),
      return_url: Type.Optional(
        Type.String({
          format: 'uri',
          pattern: '^https?://',
          maxLength: 2_000,
          description: 'Required in live mode: where the checkout sends the browser afterwards, paid or not.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  response: closed({
    object: Type.Literal('credit_top_up'),
    livemode: Type.Boolean(),
    credits: Type.Integer({ minimum: 1 }),
    status: Type.Enum(['completed', 'awaiting_payment']),
    checkout_url: nullable(Type.String({ format: 'uri' })),
    checkout_expires_at: nullable(epochSeconds),
  }),
  errors: ['payments_unconfigured'],
  async prepare({ services, member, body }): Promise<Checkout | null> {
    if (!body.livemode) return null;
    const { payments, creditsPerUsd } = services;
    const { organizationId } = member;
    return createCheckout(payments, {
      organizationId,
      credits: body.credits,
      returnUrl: body.return_url,
      creditsPerUsd,
    });
  },
  async handle({ em, member, body }, checkout) {
    const { livemode, credits } = body;
    if (!checkout) {
      await topUp(em, { organizationId: member.organizationId, livemode, amount: credits, reason: 'test credits' });
    }
    return {
      object: 'credit_top_up',
      livemode,
      credits,
      status: checkout ? 'awaiting_payment' : 'completed',
      checkout_url: checkout?.url ?? null,
      checkout_expires_at: checkout ? inSeconds(checkout.expiresAt) : null,
    };
  },
});

export const creditOperations = [getCredits, updateCredits, listCreditTransfers, topUpCredits];

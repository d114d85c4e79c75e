/** Credits of the organisation: balances, ledger, top-ups. */
import { Type } from 'typebox';
import type { Checkout } from '../../billing/payment-provider.ts';
import { MAXIMUM_CREDITS, TRANSFER_KINDS } from '../../contracts/credits.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { type CreditBalance, readCreditBalances } from '../../db/credits/credit-balances.ts';
import { setLowBalanceThreshold, topUp } from '../../db/credits/credits.ts';
import { CreditTransfer } from '../../db/entities.ts';
import { createdWithin, findPage } from '../../db/pages.ts';
import { leftOf, leftOfAll } from '../../domain/credit-grants.ts';
import { epochSeconds as inSeconds } from '../../domain/job-resource.ts';
import { creditsInCents, payableUnit } from '../../domain/money.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { createdParameters, pageParameters } from '../requests/query.ts';
import { epochSeconds, pageOf, renderPage } from './fields.ts';
import { defineOperation, type ManagementServices } from './operation.ts';

const TAG = 'Credits';
const credits = Type.Integer({ minimum: 0 });
const livemode = Type.Boolean({ description: 'Staging keys draw on the live balance.' });

const creditBalance = closed({
  object: Type.Literal('credit_balance'),
  livemode,
  available: Type.Integer({ minimum: 0, description: 'What new jobs can hold.' }),
  held: Type.Integer({ minimum: 0, description: 'What open jobs have set aside.' }),
  promotional: closed(
    {
      credits,
      grants: Type.Array(
        closed({
          id: Type.String({ pattern: '^grt_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
          granted: credits,
          credits: Type.Integer({ minimum: 0, description: 'What is left of it.' }),
          expires_at: epochSeconds,
        }),
        { description: 'In the order in which they are used.' },
      ),
    },
    'What of the two is promotional: it is used first, and leaves the balance when it expires.',
  ),
  low_balance_threshold: nullable(Type.Integer({ minimum: 1 })),
  is_low: Type.Boolean({ description: 'Whether available and held together are below the threshold.' }),
});

function renderBalance({ available, held, grants, lowBalanceThreshold, livemode }: CreditBalance) {
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
  };
}

const getCredits = defineOperation({
  id: 'getCredits',
  method: 'get',
  path: '/mgmt/v1/credits',
  tag: TAG,
  summary: 'The live and the test balance',
  permission: 'credits:read',
  answer: closed({ object: Type.Literal('list'), data: Type.Array(creditBalance), has_more: Type.Literal(false) }),
  async handle({ em, member }) {
    const balances = await readCreditBalances(em, member.organizationId);
    return { object: 'list', data: balances.map(renderBalance), has_more: false };
  },
});

const updateCredits = defineOperation({
  id: 'updateCredits',
  method: 'patch',
  path: '/mgmt/v1/credits',
  tag: TAG,
  summary: 'Set the threshold of a low balance',
  description:
    'When what is available and held together falls below the threshold, the event `credits.low_balance` is written, ' +
    'once; and again after the balance has been above it. `GET /v1/events` lists it.',
  permission: 'credits:write',
  body: Type.Object(
    {
      livemode,
      low_balance_threshold: nullable(
        Type.Integer({ minimum: 1, maximum: MAXIMUM_CREDITS, description: 'Credits; null tells nothing.' }),
      ),
    },
    { additionalProperties: false },
  ),
  answer: creditBalance,
  async handle({ em, member, body }) {
    await setLowBalanceThreshold(
      em,
      { organizationId: member.organizationId, livemode: body.livemode },
      body.low_balance_threshold,
    );
    const balances = await readCreditBalances(em, member.organizationId);
    const changed = balances.find((balance) => balance.livemode === body.livemode);
    if (!changed) throw new Error('there is a balance of each mode');
    return renderBalance(changed);
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
  job_id: nullable(Type.String({ description: 'Of a hold, capture or release.' })),
  grant_id: nullable(Type.String({ description: 'Of a promotion or expiry.' })),
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
  summary: 'Every transfer of credits, newest first',
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
  answer: pageOf(creditTransfer),
  async handle({ em, member, query }) {
    const where = {
      organizationId: member.organizationId,
      livemode: query.livemode === undefined ? { $in: [true, false] } : query.livemode,
      ...(query.kind !== undefined && { kind: query.kind }),
      ...(query.job_id !== undefined && { jobId: query.job_id }),
      ...createdWithin(query),
    };
    const page = await findPage<CreditTransfer>(em, CreditTransfer, where, {
      limit: query.limit,
      ...cursorOf('starting_after', query.starting_after),
      ...cursorOf('ending_before', query.ending_before),
    });
    return renderPage(page, renderTransfer);
  },
});

/** The place of a transfer in the ledger. @throws ServiceError when it is no id of one */
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
  summary: 'Top up',
  description:
    'Test credits are added at once and cost nothing. For live ones the answer has the address of a checkout; the ' +
    'credits are there when the payment provider has told that it was paid.',
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
          description: 'Required in live mode: where the browser goes from the checkout, paid or not.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answer: closed({
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
    return createCheckout(services, member.organizationId, body.credits, body.return_url);
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

/** What Stripe and others take in one payment. */
const PAYABLE_CENTS = { minimum: 50, maximum: 99_999_999 };

function createCheckout(
  { payments, creditsPerUsd }: ManagementServices,
  organizationId: string,
  credits: number,
  returnUrl: string | undefined,
): Promise<Checkout> {
  if (!payments) {
    throw new ServiceError(
      'payments_unconfigured',
      'No payment provider is configured, so live credits cannot be bought here. Ask the operator for them.',
    );
  }
  if (returnUrl === undefined) {
    throw new ServiceError('parameter_missing', '"return_url" is required to buy live credits.', {
      param: 'return_url',
    });
  }
  const amountCents = creditsInCents(credits, creditsPerUsd);
  if (amountCents === null) {
    throw new ServiceError(
      'parameter_invalid',
      `"credits" must cost whole cents: take a multiple of ${payableUnit(creditsPerUsd)}.`,
      { param: 'credits' },
    );
  }
  if (amountCents < PAYABLE_CENTS.minimum || amountCents > PAYABLE_CENTS.maximum) {
    throw new ServiceError(
      'parameter_invalid',
      `"credits" cost ${amountCents} US cents; one payment is from ${PAYABLE_CENTS.minimum} to ${PAYABLE_CENTS.maximum}.`,
      { param: 'credits' },
    );
  }
  return payments.createCheckout({ organizationId, credits, amountCents, returnUrl });
}

export const creditOperations = [getCredits, updateCredits, listCreditTransfers, topUpCredits];

/** What this service reads from Stripe's events. Their signature says who sent them, and nothing of what they hold. */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { MAXIMUM_CREDITS } from '../../contracts/credits.ts';
import { nullable } from '../../contracts/vocabulary/schemas.ts';
import { ORGANIZATION_ID } from '../../organizations/organization-id.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { PaymentNotification } from './payment-provider.ts';

/** Marks checkouts of this service, because the Stripe account may sell other things too. */
export const SERVICE = 'vehicle-inference-service';

const anyEvent = Type.Object({ type: Type.String() });

const eventOf = <Subject extends TSchema>(subject: Subject) => Type.Object({ data: Type.Object({ object: subject }) });

const anySubject = eventOf(Type.Object({ metadata: Type.Optional(Type.Unknown()) }));

const id = Type.String({ pattern: '^[!-~]{1,255}$' });
const payment = nullable(Type.Union([id, Type.Object({ id })]));

const session = eventOf(
  Type.Object({
    payment_status: Type.String(),
    payment_intent: payment,
    metadata: Type.Object({
      organization_id: Type.String({ pattern: ORGANIZATION_ID.source }),
      credits: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }),
    }),
  }),
);

const charge = eventOf(
  Type.Object({
    payment_intent: payment,
    amount: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    amount_refunded: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  }),
);

/**
 * Reads an event. Returns null when it does not concern the credits of this service.
 * @throws ServiceError `malformed_request`, `parameter_invalid`
 */
export function readStripeEvent(body: string): PaymentNotification | null {
  const event = parse(body);
  switch (check(anyEvent, event).type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return isOfThisService(event) ? paidBy(check(session, event)) : null;
    case 'charge.refunded':
      return isOfThisService(event) ? refundedBy(check(charge, event)) : null;
    default:
      return null;
  }
}

function isOfThisService(event: unknown): boolean {
  const { metadata } = check(anySubject, event).data.object;
  return (metadata as { service?: unknown } | null | undefined)?.service === SERVICE;
}

function paidBy({ data }: Static<typeof session>): PaymentNotification | null {
  const { metadata, payment_status: status, payment_intent: payment } = data.object;
  const credits = Number(metadata.credits);
  if (credits > MAXIMUM_CREDITS) throw refused('data.object.metadata.credits', `must be <= ${MAXIMUM_CREDITS}`);
  // Slow payments, such as bank transfers, complete their session before they are paid.
  if (status !== 'paid' || payment === null) return null;
  return { kind: 'paid', reference: referenceOf(payment), organizationId: metadata.organization_id, credits };
}

function refundedBy({ data }: Static<typeof charge>): PaymentNotification | null {
  const { payment_intent: payment, amount, amount_refunded: amountRefunded } = data.object;
  if (payment === null) return null;
  return { kind: 'refunded', reference: referenceOf(payment), amountRefunded, amountPaid: amount };
}

const referenceOf = (payment: string | { id: string }) =>
  `stripe:${typeof payment === 'string' ? payment : payment.id}`;

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new ServiceError('malformed_request', 'The body is not valid JSON.', { cause: error });
  }
}

function check<Schema extends TSchema>(schema: Schema, event: unknown): Static<Schema> {
  if (Value.Check(schema, event)) return event;
  const [error] = Value.Errors(schema, event);
  throw refused(error?.instancePath.slice(1).replaceAll('/', '.') ?? '', error?.message ?? 'is invalid');
}

function refused(param: string, problem: string): ServiceError {
  return new ServiceError('parameter_invalid', param ? `"${param}" ${problem}.` : `The body ${problem}.`, {
    param: param || undefined,
  });
}

/** Rules of a checkout: which amounts can be bought. */
import { ServiceError } from '../../platform/service-error.ts';
import { creditsInCents, payableUnit } from '../money.ts';
import type { Checkout, PaymentProvider } from './payment-provider.ts';

/** The limits of Stripe and others for one payment. */
const PAYABLE_CENTS = { minimum: 50, maximum: 99_999_999 };

interface Purchase {
  organizationId: string;
  /** Live credits to buy. */
  credits: number;
  returnUrl: string | undefined;
  creditsPerUsd: number;
}

/** Creates a checkout at the provider. @throws ServiceError 400, or 503 without a provider */
export function createCheckout(
  payments: PaymentProvider | null,
  { organizationId, credits, returnUrl, creditsPerUsd }: Purchase,
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
      `"credits" must cost whole cents: use a multiple of ${payableUnit(creditsPerUsd)}.`,
      { param: 'credits' },
    );
  }
  if (amountCents < PAYABLE_CENTS.minimum || amountCents > PAYABLE_CENTS.maximum) {
    throw new ServiceError(
      'parameter_invalid',
      `"credits" cost ${amountCents} US cents; one payment must be from ${PAYABLE_CENTS.minimum} to ${PAYABLE_CENTS.maximum} cents.`,
      { param: 'credits' },
    );
  }
  return payments.createCheckout({ organizationId, credits, amountCents, returnUrl });
}

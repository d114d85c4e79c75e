/** Through whom credits are paid for. The service knows a payment by its reference and nothing of cards. */

export interface CheckoutOrder {
  organizationId: string;
  /** Live credits to be bought. */
  credits: number;
  /** What they cost, in US cents. */
  amountCents: number;
  /** Where the browser goes afterwards, whether it was paid or not. */
  returnUrl: string;
}

export interface Checkout {
  /** Where to pay. */
  url: string;
  expiresAt: Date;
}

/** What a provider tells of a checkout of this service. It may tell it again, late, and in any order. */
export type PaymentNotification =
  | {
      kind: 'paid';
      /** Names the payment, at whichever provider: `stripe:pi_…`. */
      reference: string;
      organizationId: string;
      credits: number;
    }
  | {
      kind: 'refunded';
      /** Of the payment. */
      reference: string;
      /** All that was paid back of it so far, and what was paid, in the same unit. */
      amountRefunded: number;
      amountPaid: number;
    };

export interface PaymentProvider {
  /** @throws ServiceError `service_unavailable` when the provider does not answer as it should */
  createCheckout(order: CheckoutOrder): Promise<Checkout>;
  /**
   * Reads what the provider posted, after its signature was checked. Null: it does not concern the credits of this service.
   * @throws ServiceError `parameter_invalid` when the signature is not the provider's, or too old
   */
  readNotification(body: string, signature: string): PaymentNotification | null;
}

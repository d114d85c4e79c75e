/** The port to a payment provider. The service stores the reference of a payment and no card data. */

export interface CheckoutOrder {
  organizationId: string;
  /** Live credits to buy. */
  credits: number;
  /** Their price in US cents. */
  amountCents: number;
  /** Where the browser goes afterwards, paid or not. */
  returnUrl: string;
}

export interface Checkout {
  /** Where to pay. */
  url: string;
  expiresAt: Date;
}

/** A provider's notification about a checkout of this service. May come repeatedly, late and in any order. */
export type PaymentNotification =
  | {
      kind: 'paid';
      /** Id of the payment, with its provider: `stripe:pi_…`. */
      reference: string;
      organizationId: string;
      credits: number;
    }
  | {
      kind: 'refunded';
      /** Id of the refunded payment. */
      reference: string;
      /** Total refunded so far, in the same unit as `amountPaid`. */
      amountRefunded: number;
      amountPaid: number;
    };

export interface PaymentProvider {
  /** @throws ServiceError `service_unavailable` when the provider fails */
  createCheckout(order: CheckoutOrder): Promise<Checkout>;
  /**
   * Verifies and parses a notification. Returns null when it does not concern the credits of this service.
   * @throws ServiceError `parameter_invalid` when the signature is invalid or too old, or a field does not fit, and
   *   `malformed_request` when the body is no JSON
   */
  readNotification(body: string, signature: string): PaymentNotification | null;
}

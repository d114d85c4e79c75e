/**
 * Why no response arrived. Customers read these texts as `last_error` of their webhook endpoint, so they name the cause
 * and disclose nothing about the service's own network.
 */
const MESSAGES = {
  url_malformed: 'the URL is malformed',
  url_not_https: 'the URL must begin with https://',
  url_not_http: 'the URL must begin with https:// or http://',
  url_has_credentials: 'the URL must not contain a user name or password',
  host_not_found: 'the host name does not resolve to an address',
  address_not_public: 'the host resolves to an address that is not public',
  timeout: 'no complete response in time',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was closed before the response was complete',
  connection_failed: 'the connection failed',
  certificate_invalid: 'the TLS certificate is not valid for the host',
  tls_failed: 'the TLS handshake failed',
  response_malformed: 'the response is not valid HTTP',
} as const;

export type DeliveryErrorCode = keyof typeof MESSAGES;

export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: DeliveryErrorCode;

  constructor(code: DeliveryErrorCode, options: { cause?: unknown } = {}) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}

/** Maps an error of Node's network layers to its cause. */
export function deliveryErrorOf(cause: unknown): DeliveryError {
  if (cause instanceof DeliveryError) return cause;
  const systemCode = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return new DeliveryError(codeOf(systemCode), { cause });
}

function codeOf(systemCode: string): DeliveryErrorCode {
  switch (systemCode) {
    case 'ECONNREFUSED':
      return 'connection_refused';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'connection_reset';
    case 'ETIMEDOUT':
      return 'timeout';
    case 'EPROTO':
      return 'tls_failed';
    default:
  }
  if (systemCode.startsWith('HPE_')) return 'response_malformed';
  // OpenSSL's verification results: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT, UNABLE_TO_GET_ISSUER_CERT, …
  if (systemCode === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' || /(^|_)CERT(_|$)/.test(systemCode)) {
    return 'certificate_invalid';
  }
  if (systemCode.startsWith('ERR_SSL_') || systemCode.startsWith('ERR_TLS_')) return 'tls_failed';
  return 'connection_failed';
}

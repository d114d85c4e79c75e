/** A throw-away TLS certificate (X.509 v3, RFC 5280), so that no private key lies in the repository. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface CertificateAndKey {
  /** PEM; it is its own authority. */
  certificate: string;
  /** PEM. */
  key: string;
}

interface Validity {
  from: Date;
  to: Date;
}

const DAY_MS = 86_400_000;

export function selfSignedCertificate(
  hostname: string,
  { from, to }: Validity = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS) },
): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(objectIdentifier('2a8648ce3d040302'));
  const commonName = sequence(set(sequence(objectIdentifier('550403'), element(0x0c, Buffer.from(hostname)))));
  const subjectAlternativeName = sequence(
    objectIdentifier('551d11'),
    element(0x04, sequence(isIPv4(hostname) ? ipAddress(hostname) : element(0x82, Buffer.from(hostname)))),
  );
  const toBeSigned = sequence(
    element(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    commonName,
    sequence(time(from), time(to)),
    commonName,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(subjectAlternativeName)),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, ecdsaWithSha256, element(0x03, Buffer.concat([Buffer.of(0), signature])));
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** DER: tag, length, value. */
function element(tag: number, value: Buffer): Buffer {
  const length = value.length < 128 ? Buffer.of(value.length) : Buffer.of(0x82, value.length >> 8, value.length & 0xff);
  return Buffer.concat([Buffer.of(tag), length, value]);
}

const sequence = (...items: Buffer[]) => element(0x30, Buffer.concat(items));
const set = (...items: Buffer[]) => element(0x31, Buffer.concat(items));
const ipAddress = (address: string) => element(0x87, Buffer.from(address.split('.').map(Number)));
const integer = (value: number) => element(0x02, Buffer.of(value));
const objectIdentifier = (hex: string) => element(0x06, Buffer.from(hex, 'hex'));
/** GeneralizedTime: 20261004120000Z. */
const time = (date: Date) => element(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));

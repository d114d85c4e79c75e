/**
 * A webhook receiver that trusts nothing but the signature. Plain Node, no package:
 *
 *   WEBHOOK_SECRET=whsec_… node docs/examples/webhook-receiver.mjs 8090
 *
 * It prints each delivery and ends after the first whose signature is right.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
const port = Number(process.argv[2] ?? 8090);
if (!secret) throw new Error('WEBHOOK_SECRET is missing: the signing secret of the webhook endpoint');

const TOLERANCE_SECONDS = 300;

/** Whether the service signed these bytes, and lately. `header` is `t=<epoch seconds>,v1=<hex>[,v1=<hex>]`. */
function isGenuine(header, body) {
  const elements = String(header ?? '').split(',');
  const timestamp = elements.find((element) => element.startsWith('t='))?.slice(2);
  // The key is the secret as it was shown, prefix included. What is signed: the time, a full stop, the body's own bytes.
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  const signed = elements
    .filter((element) => element.startsWith('v1='))
    .map((element) => Buffer.from(element.slice(3), 'hex'))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  return signed && Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
}

const server = createServer((request, response) => {
  receive(request, response).catch((error) => response.destroy(error));
});

async function receive(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers['service-signature'], body)) {
    console.log('a request with a wrong signature, refused');
    response.writeHead(400).end();
    return;
  }
  const event = JSON.parse(body.toString('utf8'));
  console.log(`${event.type} ${event.id}: ${event.data.object.id} is ${event.data.object.status}, signature right`);
  // Answer first, work afterwards: a delivery that takes longer than 10 s counts as failed and comes again.
  response.writeHead(204).end();
  server.close();
  server.closeIdleConnections();
}

server.listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}`));

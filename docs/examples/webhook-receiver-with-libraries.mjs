/**
 * A webhook receiver that leaves the check of the signature to a library: the service's typed client, and beside it one
 * of Standard Webhooks. Either is enough.
 *
 *   WEBHOOK_SECRET=whsec_… node docs/examples/webhook-receiver-with-libraries.mjs 8090
 *
 * It ends after one delivery.
 */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../src/client/index.ts';

const secret = process.env.WEBHOOK_SECRET;
const port = Number(process.argv[2] ?? 8090);
if (!secret) throw new Error('WEBHOOK_SECRET is missing: the signing secret of the webhook endpoint');

const server = createServer((request, response) => void receive(request, response));

async function receive(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // The body as it came: parsed and written again it would not match.
  const body = Buffer.concat(chunks).toString('utf8');
  try {
    const event = await verifyWebhook({ body, signature: request.headers['service-signature'], secret });
    new Webhook(secret).verify(body, request.headers);
    console.log(`${event.type}${event.test ? ' (a test)' : ''}: right by both libraries`);
    response.writeHead(204).end();
  } catch (error) {
    console.log(`refused: ${error.message}`);
    response.writeHead(400).end();
  }
  server.close();
  server.closeIdleConnections();
}

server.listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}`));

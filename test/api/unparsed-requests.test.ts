/** Bytes that Node's HTTP parser rejects before the app sees them. */

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDrainingServer } from '../../src/api/draining-server.ts';
import { refuseUnparsed } from '../../src/api/refuse-unparsed.ts';
import { ERRORS } from '../../src/contracts/error-codes.ts';
import { isId } from '../../src/platform/ids.ts';
import { PUBLIC_BASE_URL } from '../support/api.ts';
import { recordLog } from '../support/log-record.ts';

const log = recordLog();
const { server, drain } = createDrainingServer(
  (_request, response) => void response.write('the first half'),
  refuseUnparsed({ publicBaseUrl: PUBLIC_BASE_URL, logger: log.logger }),
);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => drain(0));

/** Everything received until the server closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

it.each([
  ['a header that is too long', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`, 431],
  ['a malformed header', 'GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n', 400],
  ['what is not HTTP', 'hello chk_test_secret\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
])('%s gets the error body with a Request-Id', async (_what, bytes, status) => {
  const text = await exchange(bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  const requestId = /^Request-Id: (\S+)$/im.exec(head)?.[1] ?? '';
  expect(isId('request', requestId)).toBe(true);
  expect(head).toMatch(new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'im'));
  expect(JSON.parse(body)).toEqual({
    error: {
      type: ERRORS.malformed_request.type,
      code: 'malformed_request',
      message: expect.stringMatching(/\S{2}/),
      doc_url: `${PUBLIC_BASE_URL}/docs/errors/malformed_request`,
      request_id: requestId,
    },
  });
  expect(log.lines.join()).toContain(requestId);
  expect(log.lines.join()).not.toContain('chk_test_secret');
});

it('a response in progress is cut off by a malformed request, not followed by a second one', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.includes('the first half')) socket.write('no length of a chunk\r\n');
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  expect(text).toContain('the first half');
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

/** The effect of refused multipart bodies on the process that reads them, tested in a separate process. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

/** Sends a refused file, waits for the refusal, then sends the rest of the body. */
const program = (contentLength: boolean) => `
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readMultipartBody } from './src/api/requests/multipart-body.ts';

const store = { async put(_key, content) { for await (const _ of content); }, async remove() {} };
const assessed = Promise.withResolvers();
const policy = {
  field: 'images', maximum: 2, maximumBytes: 1_000, storageKey: String,
  get directMediaTypes() { assessed.resolve(); return ['image/jpeg']; },
};
const server = createServer((incoming, outgoing) =>
  readMultipartBody(incoming, store, policy).then(() => outgoing.end('taken'), ({ code }) => outgoing.end(code)),
).listen(0, '127.0.0.1');
await once(server, 'listening');

const part = '--b\\r\\nContent-Disposition: form-data; name="images"; filename="a"\\r\\n\\r\\nno picture\\r\\n';
const [first, rest] = [part + '--b\\r\\n', 'Content-Disposition: form-data; name="images"; filename="b"\\r\\n\\r\\n\\r\\n--b--\\r\\n'];
const headers = { 'Content-Type': 'multipart/form-data; boundary=b', ...(${contentLength} && { 'Content-Length': first.length + rest.length }) };
const sent = request({ port: server.address().port, method: 'POST', headers });
sent.write(first);
await assessed.promise;
for (let turn = 0; turn < 10; turn += 1) await nextTurn();
sent.end(rest);
const [answer] = await once(sent, 'response');
for await (const text of answer) process.stdout.write(text);
server.close();
`;

it.each([
  { what: 'a small body', contentLength: true },
  { what: 'a body of unknown size', contentLength: false },
])(
  'a file of $what that is refused while the rest is on its way ends the request, not the process',
  ({ contentLength }) => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program(contentLength)],
      { cwd: PROJECT_DIRECTORY, encoding: 'utf8', timeout: 30_000 },
    );
    expect([status, stdout, stderr]).toEqual([0, 'unsupported_media_type', '']);
  },
);

/** Sends what begins with `part`, ends it as told, then asks again. Prints the code of what was answered. */
const brokenProgram = (part: string, end: 'whole' | 'early' | 'hung up') => `
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { readMultipartBody } from './src/api/requests/multipart-body.ts';

const store = { async put(_key, content) { for await (const _ of content); }, async remove() {} };
const policy = { field: 'images', maximum: 1, maximumBytes: 1e6, storageKey: String, directMediaTypes: ['image/jpeg'] };
const read = Promise.withResolvers();
const server = createServer((incoming, outgoing) => {
  const body = readMultipartBody(incoming, store, policy);
  body.catch(() => {}).finally(read.resolve);
  body.then(() => outgoing.end('taken '), ({ code }) => outgoing.end(code + ' '));
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const send = (path) => {
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  return request({ port: server.address().port, path, method: 'POST', headers }).on('error', () => {});
};
const print = async (sent) => {
  const [answer] = await once(sent, 'response');
  for await (const text of answer) process.stdout.write(String(text));
};
const sent = send('/');
await new Promise((done) => sent.write(${JSON.stringify(part)} + 'x'.repeat(100_000), done));
if (${JSON.stringify(end)} === 'hung up') {
  await once(server, 'request');
  sent.destroy();
} else {
  sent.end(${JSON.stringify(end)} === 'whole' ? '\\r\\n--b--\\r\\n' : '');
  await print(sent);
}
await read.promise;
await print(send('/again').end('--b--\\r\\n'));
server.close();
`;

const partOf = (disposition: string) => `--b\r\nContent-Disposition: form-data${disposition}\r\n\r\n`;

describe.each([
  { what: 'a file of another name', part: partOf('; name="other"; filename="a"'), code: 'parameter_unknown' },
  { what: 'a file without a name', part: partOf('; filename="a"'), code: 'malformed_request' },
  { what: 'a text without a name', part: partOf(''), code: 'malformed_request' },
  { what: 'a text with an empty name', part: partOf('; name=""'), code: 'malformed_request' },
])('$what', ({ part, code }) => {
  it.each([
    { end: 'whole', first: `${code} ` },
    { end: 'early', first: `${code === 'parameter_unknown' ? code : 'malformed_request'} ` },
    { end: 'hung up', first: '' },
  ] as const)('a refused part whose body is $end ends the request, not the process', ({ end, first }) => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', brokenProgram(part, end)],
      { cwd: PROJECT_DIRECTORY, encoding: 'utf8', timeout: 30_000 },
    );
    expect([status, stdout, stderr]).toEqual([0, `${first}taken `, '']);
  });
});

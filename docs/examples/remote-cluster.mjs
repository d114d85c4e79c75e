/**
 * A cluster that runs `render.background`, as docs/remote-inference.md describes. Plain Node, no package:
 *
 *   CLUSTER_KEY=… node docs/examples/remote-cluster.mjs 8092
 *
 * Each result is a composite of one pixel, after WORK_SECONDS (1): replace `work` by your pipeline.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const key = process.env.CLUSTER_KEY;
const port = Number(process.argv[2] ?? 8092);
const workSeconds = Number(process.env.WORK_SECONDS ?? 1);
if (!key) throw new Error('CLUSTER_KEY is missing: what the service sends as "Authorization: Bearer <key>"');

/**
 * Made from pixels alone. An input must not be sent back as it came: a phone's photo says where it was taken, and the
 * service refuses such a file.
 */
const COMPOSITE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==',
  'base64',
);

/** Dispatches that are under way, by id. */
const running = new Map();

/** The pipeline: input files and parameters → result. `upload` sends a file and returns it as the result shows it. */
async function work({ inputs, parameters }, { signal, upload }) {
  const picture = await untilAnswered(inputs[0].url, { signal });
  if (!picture.ok) throw new Error(`the input is not there: ${picture.status}`);
  await picture.arrayBuffer();
  await sleep(workSeconds * 1000, undefined, { signal });
  const composite = await upload(COMPOSITE, 'image/png');
  return {
    vehicle: null,
    cut_out: null,
    composite,
    scene: parameters.scene ?? null,
    background_color: parameters.background_color ?? null,
    has_shadow: false,
    quality_issues: [],
  };
}

const server = createServer((request, response) => {
  receive(request, response).catch((error) => response.destroy(error));
});

async function receive(request, response) {
  const answer = (status) => response.writeHead(status).end();
  if (request.headers.authorization !== `Bearer ${key}`) return answer(401);
  const id = /^\/dispatches\/(dsp_\w+)$/.exec(request.url)?.[1];
  if (request.method === 'DELETE' && id) {
    running.get(id)?.abort();
    console.log(`${id} withdrawn`);
    return answer(204);
  }
  if (request.method !== 'POST' || request.url !== '/dispatches') return answer(404);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const dispatch = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  // Respond first, work afterwards: the service waits 10 s for this response, and for callbacks much longer.
  answer(202);
  await run(dispatch);
}

async function run(dispatch) {
  const { id, heartbeat_seconds: heartbeatSeconds } = dispatch;
  const controller = new AbortController();
  const { signal } = controller;
  running.set(id, controller);
  console.log(`${id} began, attempt ${dispatch.attempt}`);
  const stop = () => controller.abort();
  const beat = () => tell(dispatch, 'progress', {}, { signal }).then((status) => status === 410 && stop());
  const heart = setInterval(() => void beat().catch(() => {}), (heartbeatSeconds * 1000) / 3);
  const upload = async (content, mediaType) => {
    const response = await call(dispatch, 'artefacts', { type: mediaType, body: content, signal });
    if (!response.ok) throw new Error(`the file was not taken: ${await response.text()}`);
    return response.json();
  };
  try {
    await tell(dispatch, 'started', {}, { signal });
    const result = await work(dispatch, { signal, upload });
    console.log(`${id} completed: ${await tell(dispatch, 'completed', { result }, { signal })}`);
  } catch (error) {
    if (signal.aborted) return console.log(`${id} stopped`);
    const failure = { code: 'model_inference_failed', message: String(error.message).slice(0, 500) };
    console.log(`${id} failed: ${await tell(dispatch, 'failed', failure, { signal }).catch(String)}`);
  } finally {
    clearInterval(heart);
    running.delete(id);
  }
}

/** Tells the service something. Answers the status. */
async function tell(dispatch, name, body, { signal }) {
  const { status } = await call(dispatch, name, { type: 'application/json', body: JSON.stringify(body), signal });
  return status;
}

function call({ callbacks, token }, name, { type, body, signal }) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type };
  return untilAnswered(callbacks[name], { method: 'POST', headers, body, signal });
}

/** Asks again and again, as long as the service is away: what it hears twice changes nothing. */
async function untilAnswered(url, request) {
  for (;;) {
    const response = await fetch(url, request).catch(() => null);
    request.signal.throwIfAborted();
    if (response && response.status < 500) return response;
    await sleep(500, undefined, { signal: request.signal });
  }
}

server.listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));

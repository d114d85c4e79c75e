/** Customers who send requests of every kind, lose connections, and repeat requests without a response. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PROJECT_DIRECTORY } from '../../src/embedded/service-processes.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { FaultStack } from './fault-stack.ts';

type Mode = 'live' | 'test';

/** A POST that may be sent any number of times. */
export interface Ask {
  kind: 'live' | 'live wait' | 'test' | 'test wait' | 'bundle' | 'upload' | 'input_ref' | 'cancellation';
  path: string;
  mode: Mode;
  scenario?: string;
  /** Pictures go as multipart, under this name. */
  pictures?: { field: string; paths: readonly string[] };
  json?: unknown;
}

interface Answer {
  status: number;
  text: string;
  code: string | null;
  isReplay: boolean;
  retryAfterMs: number;
}

/** One request of a customer: a key, every exchange for it, and the final response. */
export interface Submission {
  ask: Ask;
  key: string;
  status: number;
  text: string;
}

export interface LoadRecord {
  submissions: Submission[];
  /** Jobs whose cancellation was acknowledged. */
  canceled: string[];
  /** Requests that were accepted and got no complete response. */
  lost: number;
  /** Refusals that request a retry: 409 in progress, 429, 503. */
  refusals: Map<number, number>;
  /** Replays of stored responses. */
  repeats: number;
  /** What no customer may see: another response to the same key, or an undocumented status. */
  surprises: string[];
}

const ATTEMPT_TIMEOUT_MS = 45_000;
/** Restarts that follow each other, a claim of a process that died (45 s), and a minute of a rate limit. */
const PATIENCE_MS = 300_000;
const EXAMPLES = ['day-mechanical-drums', 'day-miles-seven-segment', 'night-kilometres', 'no-dashboard'].map(
  (name) => `training/examples/${name}.jpg`,
);
const READING = { path: '/v1/dashboard/read' } as const;

interface Customer {
  /** The longest random pause between two requests. */
  longestPauseMs: number;
  act: (random: SeededRandom) => Promise<void>;
}

export interface MixedLoadOptions {
  /** Pauses are so many times as long. */
  slowness?: number;
  /** Told of each complete response to a request, repeated ones included. */
  onAnswer?: (kind: Ask['kind'], durationMs: number) => void;
}

/** How test jobs are to end; the first two by default. */
const SCENARIOS = [undefined, undefined, 'empty_result', 'low_confidence', 'model_error', 'unit_unknown'] as const;

export class MixedLoad {
  readonly record: LoadRecord = {
    submissions: [],
    canceled: [],
    lost: 0,
    refusals: new Map(),
    repeats: 0,
    surprises: [],
  };
  readonly #stack: Pick<FaultStack, 'apiUrl' | 'seed'>;
  readonly #onAnswer: MixedLoadOptions['onAnswer'];
  readonly #over = new AbortController();
  readonly #customers: Promise<unknown>;

  constructor(
    stack: Pick<FaultStack, 'apiUrl' | 'seed'>,
    random: SeededRandom,
    { slowness = 1, onAnswer }: MixedLoadOptions = {},
  ) {
    this.#stack = stack;
    this.#onAnswer = onAnswer;
    const customers: Customer[] = [
      ...several(3, { longestPauseMs: 2_000, act: (own) => this.#readLive(own) }),
      ...several(3, { longestPauseMs: 2_000, act: (own) => this.#readTest(own) }),
      ...several(2, { longestPauseMs: 5_000, act: (own) => this.#readSlowly(own) }),
      ...several(2, { longestPauseMs: 10_000, act: (own) => this.#runBundle(own) }),
      ...several(2, { longestPauseMs: 3_000, act: (own) => this.#useUpload(own) }),
      ...several(2, { longestPauseMs: 2_000, act: (own) => this.#cancel(own) }),
      ...several(2, { longestPauseMs: 4_000, act: (own) => this.#askAtOnce(own) }),
    ];
    const running = customers.map(async ({ longestPauseMs, act }) => {
      const own = random.fork();
      while (!this.#over.signal.aborted) {
        await act(own);
        await delay(slowness * own.below(longestPauseMs), undefined, { signal: this.#over.signal }).catch(() => {});
      }
    });
    this.#customers = Promise.all(running);
    // The caller of `stop` gets the error; until then it must not end the test process.
    this.#customers.catch(() => {});
  }

  /** Resolves when every customer has a response to every request. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#customers;
  }

  /** Sends an answered request once more, and compares the response with the first. */
  async repeat({ ask, key, status, text }: Submission): Promise<void> {
    const again = await this.#sendUntilAnswered(ask, key);
    this.record.repeats += 1;
    if (again.status === status && again.text === text && again.isReplay) return;
    this.#surprise(ask, key, `${status} ${text} became ${again.status} ${again.text}, replayed: ${again.isReplay}`);
  }

  async #readLive(random: SeededRandom): Promise<void> {
    await this.#submit(random, { ...reading(random, 'live'), ...maybeWaiting(random, 'live') });
  }

  async #readTest(random: SeededRandom): Promise<void> {
    const scenario = random.pick(SCENARIOS);
    const ask = { ...reading(random, 'test'), ...maybeWaiting(random, 'test') };
    await this.#submit(random, { ...ask, ...(scenario !== undefined && { scenario }) });
  }

  async #readSlowly(random: SeededRandom): Promise<void> {
    await this.#submit(random, { ...reading(random, 'test'), ...maybeWaiting(random, 'test'), scenario: 'slow' });
  }

  async #runBundle(random: SeededRandom): Promise<void> {
    const bundle = random.pick(['vehicle.analyze', 'inspections']);
    const fixtures = `src/endpoints/${bundle}/fixtures`;
    const paths = [`${fixtures}/example.jpg`, `${fixtures}/example-2.jpg`];
    const scenario = random.pick([undefined, bundle === 'inspections' ? 'partial_inspection' : 'partial_bundle']);
    await this.#submit(random, {
      kind: 'bundle',
      mode: 'test',
      path: `/v1/${bundle.replace('.', '/')}`,
      pictures: { field: 'images', paths },
      ...(scenario !== undefined && { scenario }),
    });
  }

  async #useUpload(random: SeededRandom): Promise<void> {
    const mode = random.pick(['live', 'test'] as const);
    const pictures = { field: 'file', paths: [random.pick(EXAMPLES)] };
    const upload = await this.#submit(random, { kind: 'upload', mode, path: '/v1/uploads', pictures });
    if (upload.status !== 201) return;
    const json = { input_ref: idOf(upload) };
    for (let use = 0; use < 2; use += 1) await this.#submit(random, { ...READING, kind: 'input_ref', mode, json });
  }

  async #cancel(random: SeededRandom): Promise<void> {
    const mode = random.pick(['live', 'test'] as const);
    const job = await this.#submit(random, reading(random, mode));
    if (job.status !== 202) return;
    const id = idOf(job);
    const ask: Ask = { kind: 'cancellation', mode, path: `/v1/jobs/${id}/cancel` };
    const { status } = await this.#submit(random, ask);
    if (status === 200) this.record.canceled.push(id);
  }

  async #askAtOnce(random: SeededRandom): Promise<void> {
    const ask = { ...reading(random, 'test'), ...maybeWaiting(random, 'test') };
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 4 }, () => this.#sendUntilAnswered(ask, key)));
    const [first] = answers;
    if (first === undefined) return;
    this.#note(ask, key, first);
    this.record.repeats += answers.length - 1;
    const different = answers.filter(({ status, text }) => status !== first.status || text !== first.text);
    for (const { status, text } of different) this.#surprise(ask, key, `${first.text} and at once ${status} ${text}`);
  }

  /** Sends a request under a new key until a response arrives; every third time, once more. */
  async #submit(random: SeededRandom, ask: Ask): Promise<Submission> {
    const isRepeated = random.below(3) === 0;
    const key = randomUUID();
    const submission = this.#note(ask, key, await this.#sendUntilAnswered(ask, key));
    if (isRepeated && isStored(submission)) await this.repeat(submission);
    return submission;
  }

  #note(ask: Ask, key: string, { status, text, code }: Answer): Submission {
    const isRunning = ask.kind === 'cancellation' && code === 'job_not_cancelable';
    if (!ACCEPTED.has(status) && !isRunning) this.#surprise(ask, key, `${status} ${text}`);
    const submission = { ask, key, status, text };
    this.record.submissions.push(submission);
    return submission;
  }

  #surprise({ kind, path }: Ask, key: string, what: string): void {
    this.record.surprises.push(`${kind}, ${path}, key ${key}: ${what}`);
  }

  async #sendUntilAnswered(ask: Ask, key: string): Promise<Answer> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.#send(ask, key);
      if (answer !== null && !asksToComeAgain(answer)) return answer;
      if (performance.now() > deadlineMs) {
        throw new Error(`${ask.kind}, key ${key}: no answer in time; the latest: ${JSON.stringify(answer)}`);
      }
      if (answer) this.record.refusals.set(answer.status, (this.record.refusals.get(answer.status) ?? 0) + 1);
      await delay(Math.max(answer?.retryAfterMs ?? 0, 200));
    }
  }

  /** One POST, never repeated; null when no complete response arrived. */
  async #send({ kind, path, mode, scenario, pictures, json }: Ask, key: string): Promise<Answer | null> {
    const sentAtMs = performance.now();
    try {
      const response = await fetch(`${this.#stack.apiUrl}${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${this.#stack.seed.keys[mode]}`,
          'Idempotency-Key': key,
          ...(scenario !== undefined && { 'X-Service-Test-Scenario': scenario }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(pictures && { body: formOf(pictures) }),
        ...(json !== undefined && { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      });
      const text = await response.text();
      this.#onAnswer?.(kind, performance.now() - sentAtMs);
      return {
        status: response.status,
        text,
        code: response.ok ? null : codeOf(text),
        isReplay: response.headers.get('Idempotent-Replayed') === 'true',
        retryAfterMs: Number(response.headers.get('Retry-After') ?? '0') * 1_000,
      };
    } catch (error) {
      if (!isRefused(error)) this.record.lost += 1;
      return null;
    }
  }
}

function several(count: number, customer: Customer): Customer[] {
  return Array<Customer>(count).fill(customer);
}

/** Nobody listened: the request reached no process. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

const ACCEPTED: ReadonlySet<number> = new Set([200, 201, 202]);

/** Refusals are not stored: they have no replay. */
export function isStored({ status }: Pick<Submission, 'status'>): boolean {
  return ACCEPTED.has(status);
}

export function idOf({ text }: Pick<Submission, 'text'>): string {
  return (JSON.parse(text) as { id: string }).id;
}

function asksToComeAgain({ status, code }: Answer): boolean {
  return status === 429 || status === 503 || code === 'idempotency_request_in_progress';
}

function codeOf(text: string): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

function reading(random: SeededRandom, mode: Mode): Ask {
  return { ...READING, kind: mode, mode, pictures: { field: 'image', paths: [random.pick(EXAMPLES)] } };
}

function maybeWaiting(random: SeededRandom, mode: Mode): Pick<Ask, 'kind' | 'path'> {
  return random.below(2) === 0
    ? { kind: mode, path: READING.path }
    : { kind: `${mode} wait`, path: `${READING.path}?wait=true` };
}

const pictureBytes = new Map<string, Buffer<ArrayBuffer>>();

function formOf({ field, paths }: NonNullable<Ask['pictures']>): FormData {
  const form = new FormData();
  for (const path of paths) {
    const bytes = pictureBytes.get(path) ?? readFileSync(join(PROJECT_DIRECTORY, path));
    pictureBytes.set(path, bytes);
    form.append(field, new Blob([bytes], { type: 'image/jpeg' }), 'picture.jpg');
  }
  return form;
}

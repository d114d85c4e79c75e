/** `vis listen`, `vis replay` and `vis trigger`: webhooks on a computer without a public address. */
import { ApiError, ConnectionError, type ListedEvent, type VehicleInferenceClient } from '../../client/index.ts';
import { newWebhookSecret } from '../../webhooks/signing.ts';
import { type Command, connectionOf, textOf } from '../command.ts';
import { EXIT, ReportedFailure, UsageError } from '../exit-codes.ts';
import { createForwarder, type Forwarded, forwardAddressOf } from '../forwarder.ts';
import { clientOf, managementOf, readSettings, writeSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { requireTestKey } from './account.ts';
import { wholeNumber } from './jobs.ts';
import { SAMPLE_PICTURE } from './sample-picture.ts';

const EVENTS = ['job.succeeded', 'job.partial', 'job.failed'] as const;
type DeliveredType = (typeof EVENTS)[number];

/** How each event is caused in test mode. */
const TRIGGERS = {
  'job.succeeded': { endpoint: 'dashboard.read', field: 'image', scenario: undefined },
  'job.failed': { endpoint: 'dashboard.read', field: 'image', scenario: 'model_error' },
  'job.partial': { endpoint: 'vehicle.analyze', field: 'images', scenario: 'partial_bundle' },
} as const satisfies Record<DeliveredType, object>;

const POLL_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Transactions that end late: an event may become visible after one that is younger. */
const OVERLAP_SECONDS = 60;

const forwardTo = { value: 'address', summary: 'such as localhost:3000/hook' };

export const eventCommands: Command[] = [
  {
    name: 'listen',
    summary: 'Forward events to this computer, signed as webhooks are, until Ctrl-C',
    arguments: [],
    options: {
      'forward-to': forwardTo,
      events: { value: 'types', summary: 'only these, separated by commas', values: EVENTS },
      'print-secret': { summary: 'print the signing secret and end' },
    },
    async run({ terminal, options }) {
      const secret = listeningSecret(terminal);
      if (options['print-secret']) return terminal.print(secret);
      const address = forwardAddressOf(textOf(options, 'forward-to'));
      const wanted = eventTypes(textOf(options, 'events'));
      const client = clientOf(terminal, connectionOf(options), 1);
      const forward = createForwarder({ address, secret, now: terminal.now });
      const events = newEvents(client, terminal, () => {
        terminal.note(`Ready. Forwarding to ${address}, signed with ${secret}`);
      });
      for await (const event of events) {
        if (!isDelivered(event, wanted)) continue;
        const body = await retried(terminal, () => client.getEventText(event.id, terminal.signal));
        showForwarded(terminal, event, await forward(event.id, body, terminal.signal), options.json === true);
      }
    },
  },
  {
    name: 'replay',
    summary: 'Send an event again to this computer, or deliver what failed again (VIS_TOKEN)',
    arguments: [{ name: 'event or webhook endpoint' }],
    options: {
      'forward-to': forwardTo,
      since: { value: 'seconds', summary: 'of a webhook endpoint: what failed since this epoch time' },
    },
    async run({ terminal, args, options }) {
      const id = args['event or webhook endpoint'] ?? '';
      if (id.startsWith('whe_')) {
        const since = Number(textOf(options, 'since') ?? Number.NaN);
        if (!Number.isSafeInteger(since) || since < 0) throw new UsageError('--since needs a time in epoch seconds.');
        const management = managementOf(terminal, connectionOf(options));
        const answer = await management.replayFailedWebhookDeliveries(id, { since });
        const more = answer.has_more ? '; more have failed, repeat the command' : '';
        return terminal.print(
          options.json ? JSON.stringify(answer) : `${answer.replayed} deliveries are sent again${more}`,
        );
      }
      const address = forwardAddressOf(textOf(options, 'forward-to'));
      const body = await clientOf(terminal, connectionOf(options)).getEventText(id, terminal.signal);
      const forward = createForwarder({ address, secret: listeningSecret(terminal), now: terminal.now });
      const forwarded = await forward(id, body, terminal.signal);
      showForwarded(terminal, JSON.parse(body) as ListedEvent, forwarded, options.json === true);
      if (!forwarded.isDelivered) throw new ReportedFailure(EXIT.connection);
    },
  },
  {
    name: 'trigger',
    summary: 'Cause an event in test mode, by a job on a sample picture',
    arguments: [{ name: 'event', values: EVENTS }],
    options: { count: { value: 'number', summary: 'how many; 1 unless given' } },
    async run({ terminal, args, options }) {
      const type = EVENTS.find((known) => known === args.event);
      if (!type) throw new UsageError(`There is no event ${args.event}. Known are: ${EVENTS.join(', ')}`);
      requireTestKey(terminal);
      const count = wholeNumber(textOf(options, 'count') ?? '1', '--count');
      const client = clientOf(terminal, connectionOf(options));
      const { endpoint, field, scenario } = TRIGGERS[type];
      const picture = new File([Buffer.from(SAMPLE_PICTURE, 'base64')], 'sample.jpg', { type: 'image/jpeg' });
      const files = type === 'job.partial' ? [picture, picture] : [picture];
      for (let made = 0; made < count && !terminal.signal.aborted; made += 1) {
        const input = { [field]: field === 'image' ? picture : files };
        const job = await client.submit(endpoint, input, scenario === undefined ? {} : { testScenario: scenario });
        terminal.print(options.json ? JSON.stringify(job) : `${job.id} will cause ${type}`);
      }
    },
  },
];

/** Made on this computer at the first use and kept, so that a receiver can be configured once. */
function listeningSecret({ environment }: Terminal): string {
  const known = readSettings(environment).listening_secret;
  if (known) return known;
  const secret = newWebhookSecret();
  writeSettings(environment, { listening_secret: secret });
  return secret;
}

function eventTypes(text: string | undefined): readonly string[] {
  const types = text === undefined ? EVENTS : text.split(',');
  const unknown = types.find((type) => !EVENTS.some((known) => known === type));
  if (unknown !== undefined) throw new UsageError(`There is no event ${unknown}. Known are: ${EVENTS.join(', ')}`);
  return types;
}

const isDelivered = ({ type }: ListedEvent, wanted: readonly string[]) => wanted.includes(type);

function showForwarded(terminal: Terminal, { id, type }: ListedEvent, forwarded: Forwarded, isJson: boolean): void {
  const { status, problem, durationMs } = forwarded;
  if (isJson) {
    terminal.print(JSON.stringify({ event: id, type, status, problem, duration_ms: durationMs }));
    return;
  }
  const time = terminal.now().toISOString().slice(11, 19);
  const outcome = status === null ? `not delivered: ${problem}` : `${status} in ${durationMs} ms`;
  terminal.print(`${time} ${type} ${id} → ${outcome}`);
  if (!forwarded.isDelivered) terminal.note(`Send it again with: vis replay ${id} --forward-to <address>`);
}

/** Events that happen from now on, oldest first, each once. Ends on Ctrl-C. */
async function* newEvents(
  client: VehicleInferenceClient,
  terminal: Terminal,
  onReady: () => void,
): AsyncGenerator<ListedEvent> {
  const seen = new Map<string, number>();
  let newest = 0;
  const read = async () => {
    const found: ListedEvent[] = [];
    for await (const event of client.listEvents({
      limit: 100,
      'created[gte]': Math.max(0, newest - OVERLAP_SECONDS),
    })) {
      found.push(event);
      // At the start, the newest event alone says how far back to look.
      if (newest === 0 && seen.size === 0 && event.created < (found[0]?.created ?? 0) - OVERLAP_SECONDS) break;
    }
    return found.toReversed();
  };
  const remember = (event: ListedEvent) => {
    seen.set(event.id, event.created);
    newest = Math.max(newest, event.created);
  };
  for (const event of await retried(terminal, read)) remember(event);
  onReady();
  for (;;) {
    for (const event of await retried(terminal, read)) {
      if (seen.has(event.id)) continue;
      remember(event);
      yield event;
    }
    for (const [id, created] of seen) if (created < newest - 2 * OVERLAP_SECONDS) seen.delete(id);
    await terminal.sleep(POLL_MS);
  }
}

/** Waits for a service that is away for a while. What no waiting mends is thrown. */
async function retried<Value>(terminal: Terminal, read: () => Promise<Value>): Promise<Value> {
  for (let pauseMs = POLL_MS, failures = 0; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS), failures += 1) {
    terminal.signal.throwIfAborted();
    try {
      const value = await read();
      if (failures > 0) terminal.note('The service answers again.');
      return value;
    } catch (error) {
      const mayPass = error instanceof ConnectionError || (error instanceof ApiError && error.status >= 429);
      if (!mayPass || terminal.signal.aborted) throw error;
      if (failures === 0) terminal.note(`${error.message}. Trying again until it answers; Ctrl-C ends.`);
      await terminal.sleep(pauseMs);
    }
  }
}

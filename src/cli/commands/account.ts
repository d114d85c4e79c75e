/** `vis login`, and what a key and its organisation may use. */
import { type ApiKey, type KeyIdentity, VehicleInferenceClient } from '../../client/index.ts';
import { type Command, connectionOf, type Options, showList } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { apiKeyOf, baseUrlOf, clientOf, managementOf, settingsPath, whole, writeSettings } from '../settings.ts';
import { type Terminal, timeOf } from '../terminal.ts';

export const accountCommands: Command[] = [
  {
    name: 'login',
    summary: 'Check an API key and keep it for the next commands',
    arguments: [],
    options: {},
    async run({ terminal, options }) {
      const baseUrl = baseUrlOf(terminal, connectionOf(options));
      const given = terminal.environment.VIS_API_KEY ?? (await terminal.readSecret('API key: '));
      if (given.trim() === '') throw new UsageError('No key was given.');
      const apiKey = whole(given, 'API key');
      const identity = await new VehicleInferenceClient({ apiKey, baseUrl }).getKeyIdentity();
      writeSettings(terminal.environment, { base_url: baseUrl, api_key: apiKey });
      if (options.json) return terminal.print(JSON.stringify(identity));
      terminal.print(
        `Logged in to ${baseUrl} with the ${modeOf(identity)} key ${identity.id} of ${identity.organization_id}.`,
      );
      terminal.note(`Kept in ${settingsPath(terminal.environment)}, readable by you only.`);
    },
  },
  {
    name: 'logout',
    summary: 'Forget the API key',
    arguments: [],
    options: {},
    async run({ terminal }) {
      writeSettings(terminal.environment, { api_key: '' });
      terminal.note('The key is forgotten here. It still works: revoke it if it may have leaked.');
    },
  },
  {
    name: 'endpoints',
    summary: 'List endpoints with prices and whether a model is installed',
    arguments: [],
    options: {},
    async run({ terminal, options }) {
      const endpoints = await clientOf(terminal, connectionOf(options)).listEndpoints();
      const header = ['ENDPOINT', 'TITLE', 'CREDITS', 'AVAILABLE', 'WAIT'];
      showList({ terminal, options }, endpoints, header, ({ endpoint, title, price_credits, available, wait }) => [
        endpoint,
        title,
        price_credits,
        available ? 'yes' : 'no',
        wait ? 'yes' : 'no',
      ]);
    },
  },
  {
    name: 'models',
    summary: 'List the installed builds of each endpoint',
    arguments: [],
    options: {},
    async run({ terminal, options }) {
      const endpoints = await clientOf(terminal, connectionOf(options)).listEndpoints();
      const builds = endpoints.flatMap(({ endpoint, model_version, model_versions }) =>
        model_versions.map((build) => ({ endpoint, build, is_default: build === model_version })),
      );
      const header = ['ENDPOINT', 'BUILD', 'DEFAULT'];
      showList({ terminal, options }, builds, header, ({ endpoint, build, is_default }) => [
        endpoint,
        build,
        is_default ? 'yes' : '',
      ]);
    },
  },
  {
    name: 'keys show',
    summary: 'Show what your key is and may do',
    arguments: [],
    options: {},
    async run({ terminal, options }) {
      const identity = await clientOf(terminal, connectionOf(options)).getKeyIdentity();
      const header = ['ID', 'ORGANISATION', 'MODE', 'SCOPES', 'EXPIRES (UTC)'];
      showList({ terminal, options }, [identity], header, ({ id, organization_id, scopes, expires_at }) => [
        id,
        organization_id,
        modeOf(identity),
        scopes.join(' '),
        expires_at === null ? 'never' : timeOf(expires_at),
      ]);
    },
  },
  {
    name: 'keys list',
    summary: "List the organisation's keys (VIS_TOKEN)",
    arguments: [],
    options: {},
    async run({ terminal, options }) {
      const keys: ApiKey[] = [];
      for await (const key of managementOf(terminal, connectionOf(options)).listApiKeys({ limit: 100 })) keys.push(key);
      showKeys(terminal, keys, options);
    },
  },
  {
    name: 'keys create',
    summary: 'Create a key and show its secret once (VIS_TOKEN)',
    arguments: [{ name: 'name' }],
    options: {
      live: { summary: 'a live key; otherwise a test key' },
      scope: { value: 'scope', multiple: true, summary: 'what it may do; * unless given' },
    },
    async run({ terminal, args, options }) {
      const scopes = (Array.isArray(options.scope) ? options.scope : ['*']) as never;
      const made = await managementOf(terminal, connectionOf(options)).createApiKey({
        name: args.name ?? '',
        livemode: options.live === true,
        scopes,
      });
      if (options.json) return terminal.print(JSON.stringify(made));
      showKeys(terminal, [made], options);
      terminal.print(made.secret);
      terminal.note('The secret is shown this once.');
    },
  },
  {
    name: 'keys revoke',
    summary: 'End a key at once and permanently (VIS_TOKEN)',
    arguments: [{ name: 'key' }],
    options: {},
    async run({ terminal, args, options }) {
      showKeys(terminal, [await managementOf(terminal, connectionOf(options)).revokeApiKey(args.key ?? '')], options);
    },
  },
];

function modeOf({ livemode, is_staging }: KeyIdentity): string {
  if (!livemode) return 'test';
  return is_staging ? 'staging' : 'live';
}

function showKeys(terminal: Terminal, keys: readonly ApiKey[], options: Options): void {
  const header = ['ID', 'NAME', 'PREFIX', 'MODE', 'STATE', 'LAST USED (UTC)'];
  showList({ terminal, options }, keys, header, ({ id, name, prefix, livemode, revoked_at, last_used_at }) => [
    id,
    name,
    prefix,
    livemode ? 'live' : 'test',
    revoked_at === null ? 'active' : 'revoked',
    last_used_at === null ? null : timeOf(last_used_at),
  ]);
}

/** Test mode is told by the key's prefix, before anything is sent. */
export function requireTestKey(terminal: Terminal): void {
  if (!apiKeyOf(terminal).startsWith('chk_test_')) {
    throw new UsageError('This works with a test key only: with a live key it would spend credits.');
  }
}

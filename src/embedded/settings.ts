/** The settings of `npm start` and `npm run demo`, each a flag or an environment variable. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

interface Setting {
  flag: string;
  variable: string;
  description: string;
}

export const EMBEDDED_SETTINGS = {
  dataDirectory: {
    flag: 'data-directory',
    variable: 'DATA_DIRECTORY',
    description: "Folder of the service's data (default .data)",
  },
  apiHost: {
    flag: 'api-host',
    variable: 'API_HOST',
    description: 'Address the API listens on (default 127.0.0.1)',
  },
  apiPort: { flag: 'api-port', variable: 'API_PORT', description: 'Port of the API (default 8080)' },
  temporalPort: { flag: 'temporal-port', variable: 'TEMPORAL_PORT', description: 'Port of Temporal (default 7233)' },
  temporalWebPort: {
    flag: 'temporal-web-port',
    variable: 'TEMPORAL_WEB_PORT',
    description: 'Port of Temporal Web (default 8233)',
  },
  postgresPort: {
    flag: 'postgres-port',
    variable: 'POSTGRES_PORT',
    description: 'Port of PostgreSQL (default 5433)',
  },
  identityPort: {
    flag: 'identity-port',
    variable: 'IDENTITY_PORT',
    description: 'Port of the development identity provider (default 8081)',
  },
} as const satisfies Record<string, Setting>;

export interface EmbeddedSettings {
  /** Absolute. */
  dataDirectory: string;
  apiHost: string;
  /** Undefined: the default port, or a free one if that is taken. 0: any free port. */
  apiPort: number | undefined;
  temporalPort: number | undefined;
  temporalWebPort: number | undefined;
  postgresPort: number | undefined;
  identityPort: number | undefined;
  /** The caller's environment, which the processes inherit. */
  environment: NodeJS.ProcessEnv;
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export const asksForHelp = (args: readonly string[]) => args.includes('--help') || args.includes('-h');

/** @param command that the flags belong to, such as `npm start` */
export function describeUsage(command: string): string {
  return `Usage: ${command} -- [flags]\n${describeFlags()}\n  --help, -h: Shows this`;
}

/** @throws SettingsError that names the wrong flag or variable. */
export function readSettings(args: string[], environment: NodeJS.ProcessEnv): EmbeddedSettings {
  const flags = readFlags(args);
  const text = ({ flag, variable }: Setting) => flags[flag] || environment[variable] || undefined;
  const port = (setting: Setting) => {
    const given = text(setting);
    if (given === undefined) return undefined;
    const number = Number(given);
    if (Number.isInteger(number) && number >= 0 && number <= 65_535) return number;
    throw new SettingsError(`${setting.variable} (--${setting.flag}) must be a port, 0 to 65535; it is "${given}"`);
  };
  return {
    dataDirectory: resolve(text(EMBEDDED_SETTINGS.dataDirectory) ?? '.data'),
    apiHost: text(EMBEDDED_SETTINGS.apiHost) ?? '127.0.0.1',
    apiPort: port(EMBEDDED_SETTINGS.apiPort),
    temporalPort: port(EMBEDDED_SETTINGS.temporalPort),
    temporalWebPort: port(EMBEDDED_SETTINGS.temporalWebPort),
    postgresPort: port(EMBEDDED_SETTINGS.postgresPort),
    identityPort: port(EMBEDDED_SETTINGS.identityPort),
    environment,
  };
}

function readFlags(args: string[]): Record<string, string | undefined> {
  const settings: Setting[] = Object.values(EMBEDDED_SETTINGS);
  try {
    const options = Object.fromEntries(settings.map(({ flag }) => [flag, { type: 'string' as const }]));
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}\n${describeFlags()}`, { cause: error });
  }
}

function describeFlags(): string {
  const settings: Setting[] = Object.values(EMBEDDED_SETTINGS);
  const lines = settings.map(({ flag, variable, description }) => `  --${flag}, ${variable}: ${description}`);
  return `Flags and variables:\n${lines.join('\n')}`;
}

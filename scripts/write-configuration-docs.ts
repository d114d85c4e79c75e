/**
 * `node scripts/write-configuration-docs.ts`: writes `docs/configuration.md` from the configuration and the settings of
 * `npm start`. Run it after a change to either; a test compares the page with them.
 */
import { writeFileSync } from 'node:fs';
import { EMBEDDED_SETTINGS } from '../src/embedded/settings.ts';
import { PROCESS_VARIABLES, type ProcessName, VARIABLES, type VariableName } from '../src/platform/config/config.ts';

export const CONFIGURATION_PAGE = new URL('../docs/configuration.md', import.meta.url);

export function renderConfigurationPage(): string {
  const processes = Object.keys(PROCESS_VARIABLES) as ProcessName[];
  return [
    INTRODUCTION,
    ...processes.map((name) => `## \`npm run ${name}\`\n\n${processTable(name)}`),
    `${EMBEDDED}\n\n${embeddedTable()}`,
    '',
  ].join('\n\n');
}

const INTRODUCTION = `<!-- Written by scripts/write-configuration-docs.ts. Change src/platform/config/config.ts, then run the script. -->

# Configuration

Environment variables alone configure every process; it reads them once, at the start. If a variable is missing or wrong,
the process exits at once and names every such variable. An empty value counts as none. A process reads only the variables
in its table.

\`SERVICE_ENVIRONMENT=production\`, the default, refuses values for development; the tables say where. Secrets belong in the
environment only: no file of the project holds one.`;

const EMBEDDED = `## \`npm start\` and \`npm run demo\`

Both run all processes and set their environments. A variable or a flag (\`npm start -- --api-port 9090\`) sets their data
folder and ports. If a default port is taken, a free one replaces it; a port that you set is never replaced. Variables of
the tables above that the two do not set themselves, such as \`LOG_LEVEL\` and \`INFERENCE_THREADS\`, reach the processes.

\`TEMPORAL_ADDRESS\` (with \`TEMPORAL_NAMESPACE\`) names your own Temporal server, and \`TEMPORAL_CLI_PATH\` a Temporal program
to run; without either, Temporal is found or fetched.`;

function processTable(name: ProcessName): string {
  return table(
    ['Variable', 'Default', 'Allowed', 'Meaning'],
    PROCESS_VARIABLES[name].map((variable) => {
      const { default: fallback, description } = VARIABLES[variable];
      return [
        `\`${variable}\``,
        fallback === undefined ? '**required**' : fallback === '' ? 'empty' : `\`${fallback}\``,
        allowed(variable),
        description,
      ];
    }),
  );
}

/** The values that a parser accepts, in the words of its refusal. */
function allowed(variable: VariableName): string {
  try {
    VARIABLES[variable].parse('\0');
    return 'any text';
  } catch (error) {
    return (error as Error).message.replace(/^must be /, '');
  }
}

function embeddedTable(): string {
  return table(
    ['Variable', 'Flag', 'Meaning'],
    Object.values(EMBEDDED_SETTINGS).map(({ variable, flag, description }) => [
      `\`${variable}\``,
      `\`--${flag}\``,
      `${description}.`,
    ]),
  );
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) writeFileSync(CONFIGURATION_PAGE, renderConfigurationPage());

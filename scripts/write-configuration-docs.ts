/**
 * `node scripts/write-configuration-docs.ts`: writes `docs/configuration.md` from the one reader of the environment and
 * the settings of `npm start`. Run it after a change to either; a test holds the page to them.
 */
import { writeFileSync } from 'node:fs';
import { PROCESS_VARIABLES, type ProcessName, VARIABLES, type VariableName } from '../src/config/config.ts';
import { EMBEDDED_SETTINGS } from '../src/embedded/settings.ts';

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

const INTRODUCTION = `<!-- Written by scripts/write-configuration-docs.ts. Change src/config/config.ts, then run the script. -->

# Configuration

Every process is configured by environment variables alone, and reads them once, when it starts. A process that lacks a
variable, or finds a wrong value, ends at once and names every variable that is wrong. An empty value counts as none.
Variables that a table does not list are not read by that process.

\`SERVICE_ENVIRONMENT=production\`, the default, refuses the values meant for development; the tables say where.
Secrets belong to the environment and to nothing else: no file of the project holds one.`;

const EMBEDDED = `## \`npm start\` and \`npm run demo\`

Both run all processes and give each its environment. They can be told where to keep their data and which ports to use,
by a variable or by a flag (\`npm start -- --api-port 9090\`). A default port that is taken is replaced by a free one; a
port that was asked for is not. Variables of the tables above that the two do not set themselves, such as \`LOG_LEVEL\` and
\`INFERENCE_THREADS\`, reach the processes.

\`TEMPORAL_ADDRESS\` (with \`TEMPORAL_NAMESPACE\`) names a Temporal server of your own to use, and \`TEMPORAL_CLI_PATH\` a
Temporal program to run; without either, Temporal is found or fetched.`;

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

/** What a parser accepts, in the words in which it refuses the rest. */
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

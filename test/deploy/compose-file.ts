/** Reads `docker-compose.yml` as Docker Compose does without any variable. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

export interface ComposeService {
  image: string;
  build?: string | { context: string; target: string };
  command?: string[];
  user?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  configs?: { source: string; target: string }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  restart?: string;
  read_only?: boolean;
  profiles?: string[];
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
  configs: Record<string, { content: string }>;
}

/** `$$` is a dollar sign, `${NAME:-default}` a variable. */
const VARIABLE = /\$(?:(\$)|\{([A-Z0-9_]+)(:-([^}]*))?\})/g;

export const COMPOSE_TEXT = readFileSync(`${PROJECT_DIRECTORY}docker-compose.yml`, 'utf8');

/** With `variables` instead of the defaults. */
export function readComposeFile(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const interpolate = (text: string) =>
    text.replace(VARIABLE, (_, dollar?: string, name = '', _rest?: string, fallback = '') =>
      dollar ? dollar : (variables[name] ?? fallback),
    );
  return JSON.parse(JSON.stringify(parse(COMPOSE_TEXT, { merge: true })), (_, value: unknown) =>
    typeof value === 'string' ? interpolate(value) : value,
  ) as ComposeFile;
}

export function variablesWithoutDefault(): string[] {
  return [...COMPOSE_TEXT.matchAll(VARIABLE)].filter(([, dollar, , rest]) => !dollar && !rest).map(([text]) => text);
}

/**
 * `GET /console`: the web console. One page with its script and styles, which `scripts/build-console.mjs` builds; it works
 * with `/mgmt/v1` and `/v1` like any other client.
 */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { escapeHtml } from '../pages/markdown.ts';
import { readBuild, sendAsset } from './built-assets.ts';

/** What the console needs to know of this installation. */
export interface ConsoleSettings {
  /** The console's id at the identity provider: a public client, authorised by code with PKCE. */
  clientId: string;
  /** Its parameters stay, so a provider that wants an `audience` or a `scope` of its own gets it. */
  authorizationUrl: string;
  tokenUrl: string;
  /** Of Temporal Web, for operators; null: the console links to none. */
  temporalUrl: string | null;
  temporalNamespace: string;
  /** Origins besides the console's own that pictures come from. */
  pictureOrigins: readonly string[];
}

const FOLDER = new URL('../../../console/dist/', import.meta.url);
/** Filled in for each response: the settings, and the nonce of the styles that the component library adds. */
const [SETTINGS_PLACE, NONCE_PLACE] = ['%CONSOLE_SETTINGS%', '%CONSOLE_NONCE%'];

export function createConsoleRoutes(settings: ConsoleSettings | null, folder: URL = FOLDER) {
  const { page, assets } = readBuild(folder);

  return {
    /** The page, whatever the path below `/console`: its script reads the path. */
    page: (context: ApiContext): void => {
      if (page === null) {
        throw new ServiceError(
          'resource_not_found',
          'The console is not built here. `npm ci` with the development dependencies builds it, and so does the image.',
        );
      }
      if (settings === null) {
        throw new ServiceError(
          'resource_not_found',
          'The console is not configured here. It needs CONSOLE_CLIENT_ID, CONSOLE_AUTHORIZATION_URL, CONSOLE_TOKEN_URL and ' +
            'the identity provider of the management API.',
        );
      }
      const nonce = randomBytes(16).toString('base64');
      const { pictureOrigins: _, ...shown } = settings;
      context.type = 'text/html; charset=utf-8';
      context.set('Cache-Control', 'no-store');
      context.set('Content-Security-Policy', policyOf(settings, nonce));
      context.set('X-Content-Type-Options', 'nosniff');
      context.set('Referrer-Policy', 'no-referrer');
      context.set('Permissions-Policy', 'camera=(self), microphone=(), geolocation=()');
      context.body = page
        .replace(SETTINGS_PLACE, () => escapeHtml(JSON.stringify(shown)))
        .replace(NONCE_PLACE, () => nonce);
    },

    asset: (context: ApiContext): void => sendAsset(context, assets),
  };
}

/** Scripts and styles from here only. The styles that the component library adds have the nonce of the response. */
function policyOf({ tokenUrl, pictureOrigins }: ConsoleSettings, nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob: ${pictureOrigins.join(' ')}`.trim(),
    `media-src 'self' blob: ${pictureOrigins.join(' ')}`.trim(),
    "font-src 'self'",
    `connect-src 'self' ${new URL(tokenUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

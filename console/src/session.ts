/**
 * Sign-in with the organisation's identity provider: authorisation code with PKCE. The token lives in this module only, so a
 * reload signs in again, silently while the provider's own session lasts. An expired session is renewed in a window of its
 * own: the page, and what was typed into it, stays.
 */
import { useSyncExternalStore } from 'react';
import { settings } from './settings.ts';

export type SessionState = 'signed-out' | 'signed-in' | 'expired';

interface Pending {
  state: string;
  verifier: string;
  /** Where to go on. */
  path: string;
}

interface Answer {
  state: string | null;
  code: string | null;
  error: string | null;
}

const CALLBACK_PATH = '/console/callback';
/** Holds the pending sign-in across the redirect, and nothing afterwards: never a token. */
const PENDING_KEY = 'console-sign-in';
const WINDOW_NAME = 'console-sign-in';
const channel = new BroadcastChannel('console-sign-in');

let token: string | null = null;
/** User and organisation of the first token of this page. */
let signedInAs: string | null = null;
let state: SessionState = 'signed-out';
let waiting: (() => void)[] = [];
const listeners = new Set<() => void>();

export const currentToken = () => token;

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Resolves once somebody has signed in again. */
export function waitForSignIn(rejected: string | null): Promise<void> {
  // Signed in again since the request was sent.
  if (token !== null && token !== rejected) return Promise.resolve();
  token = null;
  become('expired');
  return new Promise((resolve) => waiting.push(resolve));
}

export function signOut(): void {
  token = null;
  // A fresh document: nothing of the session is left in memory.
  location.assign('/console/signed-out');
}

/** Leaves the page for the provider's, and comes back to `path`. */
export async function signInByRedirect(path: string, { askAgain = false } = {}): Promise<void> {
  const { url, pending } = await begin(path, askAgain ? { prompt: 'login' } : {});
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending));
  location.assign(url);
}

/** Keeps the page. Call it in the handler of a click, so that the browser lets the window open. */
export async function signInInWindow(): Promise<void> {
  // Before anything asynchronous: later the browser takes the window for an advertisement.
  const opened = window.open('about:blank', WINDOW_NAME, 'popup,width=480,height=640');
  if (!opened)
    throw new Error('The browser did not open the sign-in window. Allow windows of this page, and try again.');
  const { url, pending } = await begin('');
  opened.location.href = url;
  const answer = await new Promise<Answer>((resolve) => {
    const listen = ({ data }: MessageEvent<Answer>) => {
      if (data.state !== pending.state) return;
      channel.removeEventListener('message', listen);
      resolve(data);
    };
    channel.addEventListener('message', listen);
  });
  await complete(answer, pending);
}

/** On the address that the provider leads back to. Returns where to go on; null in the sign-in window, which closes. */
export async function finishRedirect(): Promise<string | null> {
  const query = new URLSearchParams(location.search);
  const answer = { state: query.get('state'), code: query.get('code'), error: describeError(query) };
  const kept = sessionStorage.getItem(PENDING_KEY);
  const pending = kept === null ? null : (JSON.parse(kept) as Pending);
  if (pending === null || pending.state !== answer.state) {
    channel.postMessage(answer);
    window.close();
    return null;
  }
  sessionStorage.removeItem(PENDING_KEY);
  // The code leaves the address before anything else happens.
  history.replaceState(null, '', pending.path);
  await complete(answer, pending);
  return pending.path;
}

export const isCallback = () => location.pathname === CALLBACK_PATH;

async function begin(path: string, further: Record<string, string> = {}): Promise<{ url: string; pending: Pending }> {
  const pending = { state: randomText(), verifier: randomText(), path };
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
  const url = new URL(settings.authorizationUrl);
  const parameters = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: location.origin + CALLBACK_PATH,
    state: pending.state,
    code_challenge: base64url(new Uint8Array(challenge)),
    code_challenge_method: 'S256',
    scope: url.searchParams.get('scope') ?? 'openid',
    ...further,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, pending };
}

async function complete({ code, error }: Answer, { verifier }: Pending): Promise<void> {
  if (code === null) throw new Error(error ?? 'The identity provider returned neither a code nor an error.');
  const response = await fetch(settings.tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: settings.clientId,
      redirect_uri: location.origin + CALLBACK_PATH,
      code,
      code_verifier: verifier,
    }),
  });
  const answer = (await response.json()) as { access_token?: string; error_description?: string };
  if (answer.access_token === undefined) {
    throw new Error(answer.error_description ?? 'The identity provider issued no token.');
  }
  const owner = ownerOf(answer.access_token);
  if (signedInAs !== null && owner !== signedInAs) {
    // What waits was meant for somebody else's organisation.
    location.assign('/console');
    return;
  }
  signedInAs = owner;
  token = answer.access_token;
  become('signed-in');
  for (const resume of waiting) resume();
  waiting = [];
}

/** Reads the claims without checking them: the API does that. */
function ownerOf(jwt: string): string {
  const claims = (jwt.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const { sub, org_id } = JSON.parse(atob(claims)) as { sub?: string; org_id?: string };
  return `${sub} ${org_id}`;
}

function describeError(query: URLSearchParams): string | null {
  return query.get('error_description') ?? query.get('error');
}

const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

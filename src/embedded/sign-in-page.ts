/** The sign-in page of the development identity provider: a role and the password of the data folder. */
import { createHash } from 'node:crypto';
import { ROLES } from '../organizations/roles.ts';

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; background: light-dark(#f4f6f8, #141517);
  color: light-dark(#1f2933, #e4e7eb); }
form { display: grid; gap: 1rem; width: min(22rem, calc(100vw - 4rem)); padding: 2rem; border-radius: 12px;
  background: light-dark(#fff, #1f2023); border: 1px solid light-dark(#d9e0e6, #3a3d42); }
h1 { margin: 0; font-size: 1.25rem; }
p { margin: 0; }
label { display: grid; gap: 0.25rem; font-weight: 600; font-size: 0.9rem; }
input, select, button { font: inherit; padding: 0.6rem 0.75rem; border-radius: 8px; border: 1px solid light-dark(#9aa5b1, #6b7280);
  background: light-dark(#fff, #141517); color: inherit; }
button { background: #0b5cad; border-color: #0b5cad; color: #fff; font-weight: 600; cursor: pointer; }
[role=alert] { color: light-dark(#b42318, #ff8a80); }
small { color: light-dark(#52606d, #9aa5b1); }
`;

/** No `form-action`: Chromium applies it to the redirect that follows, which leads to the console. */
export const SIGN_IN_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(STYLE)
  .digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

/**
 * `problem` is text of this folder, not of the request. `chosen` is selected if it is a role. The hidden user name is for password
 * managers: without one they file the password under no account, and browsers warn.
 */
export function renderSignInPage(problem: string | null, chosen?: string): string {
  const options = ROLES.map((role) => {
    const selected = role === chosen ? ' selected' : '';
    return `<option value="${role}"${selected}>${role.replace('_', ' ')}</option>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · development identity provider</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<form method="post">
<h1>Sign in</h1>
${problem === null ? '' : `<p role="alert">${problem}</p>`}
<label>Role<select name="role">${options.join('')}</select></label>
<input type="text" name="username" autocomplete="username" value="development" hidden>
<label>Password<input type="password" name="password" autocomplete="current-password" required autofocus></label>
<button>Sign in</button>
<small>The development identity provider of <code>npm start</code>. It printed the password.</small>
</form>
</main>
</body>
</html>
`;
}

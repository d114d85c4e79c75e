import { expect, it } from 'vitest';
import { renderSignInPage } from '../../src/embedded/sign-in-page.ts';

it('the sign-in form names the account of its password, so that password managers can keep it', () => {
  const autocomplete = [...renderSignInPage(null).matchAll(/<input[^>]* autocomplete="([^"]+)"/g)].map(([, of]) => of);
  expect(autocomplete).toEqual(['username', 'current-password']);
});

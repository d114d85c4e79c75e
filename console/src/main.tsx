import '@mantine/core/styles.css';
import './console.css';
import { type CSSVariablesResolver, createTheme, MantineProvider, Modal } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryDefaults } from './api.ts';
import { App } from './app.tsx';
import { nonce } from './settings.ts';
import { setStyleNonce } from './style-nonce.ts';

setStyleNonce(nonce);

const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, sans-serif',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Inside the page's main part, where the header of a dialogue is not taken for the banner of the page.
    Modal: Modal.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, portalProps: { target: '#dialogues' } },
    }),
  },
});
/** The library's own shades are too pale for small text. */
const resolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
  },
});
const client = new QueryClient({ defaultOptions: { queries: queryDefaults } });

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={resolver}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

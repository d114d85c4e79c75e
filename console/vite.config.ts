import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  build: {
    target: 'es2023',
    // Small pictures stay files of their own: the page's policy is then the same for all.
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // The libraries mark their parts for servers that render React, which this is not.
      onLog(level, log, report) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});

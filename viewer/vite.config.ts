import { defineConfig } from 'vite';

export default defineConfig({
  base: '/viewer/',
  build: {
    // Other people's pages run it, in their visitors' browsers.
    target: 'es2022',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { page: 'index.html', 'vehicle-viewer': 'src/vehicle-viewer.ts' },
      // One file for pages of others, which the page here imports, too.
      preserveEntrySignatures: 'allow-extension',
      output: { entryFileNames: 'assets/[name]-[hash].js' },
    },
  },
});

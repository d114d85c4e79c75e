/**
 * Builds what browsers run into `console/dist/` and `viewer/dist/`; npm runs it after every install. Plain JavaScript, because it
 * also runs on the Node that runs npm, which may be older than the one of the npm scripts.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Null without the development dependencies. */
async function findVite() {
  try {
    return await import('vite');
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const vite = await findVite();
for (const name of ['console', 'viewer']) {
  const root = new URL(`../${name}/`, import.meta.url);
  if (!existsSync(new URL('index.html', root))) {
    console.log(`The ${name} is not built: its sources are not here.`);
  } else if (vite === null) {
    console.log(
      `The ${name} is not built: that needs the development dependencies. The API answers /${name} with 404.`,
    );
  } else {
    await build(name, root);
  }
}

async function build(name, root) {
  await vite.build({
    root: fileURLToPath(root),
    configFile: fileURLToPath(new URL('vite.config.ts', root)),
    logLevel: 'warn',
  });
  const assets = new URL('dist/assets/', root);
  // Compressed once here, so that the API does not do it for every response.
  for (const file of readdirSync(assets).filter((each) => /\.(?:js|css|svg)$/.test(each))) {
    writeFileSync(new URL(`${file}.gz`, assets), gzipSync(readFileSync(new URL(file, assets)), { level: 9 }));
  }
  console.log(`The ${name} is built: ${name}/dist/.`);
}

/**
 * Completes `package-lock.json` after a dependency change: `node scripts/complete-lock-file.ts`.
 *
 * A registry mirror may lack the newest build of a platform package (biome, oxlint, …). npm then silently omits that
 * optional package from the lock, and `npm ci` refuses the lock as out of sync. Every such package is optional and named
 * after its platform, so the name alone gives its entry; npm skips it on other platforms.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const OPERATING_SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openbsd', 'sunos', 'wasm32', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el'];

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockedPackage> };

let added = 0;
for (const owner of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const known = lock.packages[key];
    if (known?.version !== undefined) continue;
    const words = name.replace(/^@[^/]+\//, '').split(/[-_]/);
    const os = OPERATING_SYSTEMS.find((word) => words.includes(word));
    const cpu = PROCESSORS.find((word) => words.includes(word));
    lock.packages[key] = {
      version,
      ...(cpu && { cpu: [cpu] }),
      ...(owner.dev && { dev: true }),
      ...(words.some((word) => word.startsWith('musl')) && { libc: ['musl'] }),
      ...(words.some((word) => word.startsWith('gnu')) && { libc: ['glibc'] }),
      optional: true,
      ...(os && { os: [os] }),
    };
    added += 1;
  }
}
if (added > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(`package-lock.json: ${added} platform packages added`);

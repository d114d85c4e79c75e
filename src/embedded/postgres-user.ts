/**
 * Chooses the account that runs PostgreSQL. The server refuses to run as root, so root uses another account; everybody else
 * runs it as themselves.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync } from 'node:fs';

export interface SystemUser {
  uid: number;
  gid: number;
}

export interface Command {
  command: string;
  args: string[];
  user: SystemUser | null;
}

/** The account for PostgreSQL if this process is root, created if missing; null if none is needed. */
export function resolvePostgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const existing = findUser('postgres');
  if (existing) return existing;
  // Debian and Fedora have useradd, Alpine has adduser; a minimal image may have neither, but has `nobody`.
  const tries: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']],
    ['adduser', ['-S', '-H', '-D', 'postgres']],
  ];
  for (const [command, args] of tries) {
    spawnSync(command, args, { stdio: 'ignore' });
    const created = findUser('postgres');
    if (created) return created;
  }
  const nobody = findUser('nobody');
  if (nobody) return nobody;
  throw new Error(
    'PostgreSQL refuses to run as root, and no account for it could be created. ' +
      'Create one named "postgres" (useradd --system postgres), or run this command as an ordinary user.',
  );
}

/** Makes the account the owner of a folder, as PostgreSQL requires for its data folder. */
export function giveTo(user: SystemUser | null, directory: string): void {
  if (user) chownSync(directory, user.uid, user.gid);
}

/**
 * Adapts the command to the account. If the checkout is in a folder that only root may enter (a clone in root's home), a mere
 * change of user would lock PostgreSQL out of its own program and data. It then keeps one of root's capabilities, to pass
 * such folders, and is an ordinary user otherwise.
 */
export function asUser(user: SystemUser | null, command: string, args: string[], dataDirectory: string): Command {
  if (!user || canReach(user, command, dataDirectory)) return { command, args, user };
  const changes = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without this, access(2), which PostgreSQL uses on its program, ignores capabilities of ordinary users.
    '--securebits=+no_setuid_fixup',
  ];
  const keepingPassage = { command: 'setpriv', args: [...changes, command, ...args], user: null };
  if (spawnSync('setpriv', [...changes, command, '--version'], { stdio: 'ignore' }).status === 0) return keepingPassage;
  throw new Error(
    `PostgreSQL runs as user id ${user.uid}, because it refuses to run as root, and that user can't reach ` +
      `${command} or ${dataDirectory}. Move the checkout out of folders only root may enter, or run as an ordinary user.`,
  );
}

function canReach(user: SystemUser, program: string, dataDirectory: string): boolean {
  const test = spawnSync('/bin/sh', ['-c', 'test -x "$0" && test -x "$1"', program, dataDirectory], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  return test.status === 0;
}

function findUser(name: string): SystemUser | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null;
}

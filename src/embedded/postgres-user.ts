/**
 * Who runs PostgreSQL. The server refuses to run as root, so root hands it to another account; everybody else runs it
 * as themselves.
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

/** The account for PostgreSQL where this process is root, made when missing; null where none is needed. */
export function resolvePostgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const existing = findUser('postgres');
  if (existing) return existing;
  // Debian and Fedora have useradd, Alpine has adduser; a minimal image may have neither and then still has `nobody`.
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
    'PostgreSQL refuses to run as root, and no account for it could be made. ' +
      'Create one named "postgres" (useradd --system postgres), or run this command as an ordinary user.',
  );
}

/** Gives a folder to the account, which PostgreSQL demands of its data folder. */
export function giveTo(user: SystemUser | null, directory: string): void {
  if (user) chownSync(directory, user.uid, user.gid);
}

/**
 * The command as the account can run it. Where the checkout lies in a folder which only root may enter (a clone in
 * root's home), changing user alone would lock PostgreSQL out of its own program and data. It then keeps one of root's
 * capabilities, to pass such folders, and is an ordinary user in everything else.
 */
export function asUser(user: SystemUser | null, command: string, args: string[], dataDirectory: string): Command {
  if (!user || canReach(user, command, dataDirectory)) return { command, args, user };
  const changes = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // access(2), which PostgreSQL asks about its program, ignores capabilities of ordinary users without this.
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

#!/usr/bin/env node
/** `vis`: the command line. */
import { setTimeout as delay } from 'node:timers/promises';
import { runCommandLine } from './run-command-line.ts';
import type { Terminal } from './terminal.ts';

const interruption = new AbortController();
// The first Ctrl-C ends in order; a second one ends at once.
process.once('SIGINT', () => interruption.abort(new Error('interrupted')));
process.once('SIGTERM', () => interruption.abort(new Error('terminated')));
// Whoever reads the output may stop reading: `vis jobs list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const isShown = process.stderr.isTTY === true;
let shown = '';

const terminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  progress(text) {
    if (text === shown) return;
    shown = text;
    process.stderr.write(isShown ? `\r\u001b[K${text}` : `${text}\n`);
  },
  endProgress() {
    if (isShown && shown !== '') process.stderr.write('\r\u001b[K');
    shown = '';
  },
  readSecret,
  environment: process.env,
  signal: interruption.signal,
  sleep: (durationMs) => delay(durationMs, undefined, { signal: interruption.signal }),
  now: () => new Date(),
};

/** Without an echo on a terminal. */
async function readSecret(question: string): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) {
    process.stderr.write(question);
    stdin.setRawMode(true);
  }
  let text = '';
  try {
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const character of String(chunk)) {
        // Raw mode passes Ctrl-C and Ctrl-D on as characters.
        if (stdin.isTTY && character === '\u0003') throw interrupted();
        if (character === '\n' || character === '\r' || character === '\u0004') return text;
        text = character === '\u007f' ? text.slice(0, -1) : text + character;
      }
    }
    return text;
  } finally {
    if (stdin.isTTY) {
      stdin.setRawMode(false);
      process.stderr.write('\n');
    }
    stdin.pause();
  }
}

function interrupted(): Error {
  const error = new Error('interrupted');
  interruption.abort(error);
  return error;
}

process.exitCode = await runCommandLine(process.argv.slice(2), terminal);
// Connections that the platform keeps for reuse must not delay the end.
process.stdout.write('', () => process.exit());

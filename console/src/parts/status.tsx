import { Badge } from '@mantine/core';
import { inWords } from '../format.ts';

/** Shades that are seen on light and on dark. */
const COLORS: Readonly<Record<string, string>> = {
  succeeded: 'green.6',
  delivered: 'green.6',
  enabled: 'green.6',
  active: 'green.6',
  partial: 'yellow.6',
  queued: 'gray.6',
  pending: 'gray.6',
  skipped: 'gray.6',
  processing: 'blue.6',
  failed: 'red.6',
  expired: 'orange.6',
  disabled: 'red.6',
  revoked: 'red.6',
  canceled: 'gray.6',
  live: 'blue.6',
  staging: 'violet.5',
  test: 'gray.6',
};

/** A state as a word; its colour says nothing that the word does not. */
export function Status({ value }: { value: string }) {
  return (
    <Badge color={COLORS[value] ?? 'gray.6'} variant="dot" tt="none" miw="max-content">
      {inWords(value)}
    </Badge>
  );
}

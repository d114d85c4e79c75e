/** The header `Range` of a download, by RFC 9110 section 14.2. */
import type { ByteRange } from '../../platform/storage/object-store.ts';

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/**
 * The requested bytes of a file of `size` bytes. Null means the whole file: no header, several ranges (which a server may
 * ignore), another unit or a malformed range.
 */
export function readByteRange(header: string, size: number): ByteRange | 'not_satisfiable' | null {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header.trim()) ?? [];
  if (first === '' && last === '') return null;
  // `bytes=-n` means the last n bytes.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < start) return null;
  return start < size ? { start, end } : 'not_satisfiable';
}

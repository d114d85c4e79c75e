/** The header `Range` of a download, by RFC 9110 section 14.2. */
import type { ByteRange } from '../../storage/object-store.ts';

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/**
 * Which bytes of a file of `size` bytes are asked for. Null for the whole file: without the header, for several ranges (which
 * a server may ignore), another unit, or what is no range.
 */
export function readByteRange(header: string, size: number): ByteRange | 'not_satisfiable' | null {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header.trim()) ?? [];
  if (first === '' && last === '') return null;
  // Without a first byte it is the last so many bytes.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < start) return null;
  return start < size ? { start, end } : 'not_satisfiable';
}

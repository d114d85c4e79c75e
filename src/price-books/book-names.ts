/** The names that requests and operators give to books: `<book>` or `<book>@<version>`. Pure. */
import type { VersionName } from './price-books-store.ts';

/** Of `<book>`. */
const BOOK = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^([a-z0-9-]+)(?:@([1-9]\d{0,8}))?$/;

export const isBookId = (text: string) => BOOK.test(text);

/** Null if the text is no name of a book. */
export function parseVersionName(text: string): VersionName | null {
  const [, book = '', version] = NAME.exec(text) ?? [];
  return isBookId(book) ? { book, version: version === undefined ? null : Number(version) } : null;
}

export const versionName = ({ book, version }: { book: string; version: number }) => `${book}@${version}`;

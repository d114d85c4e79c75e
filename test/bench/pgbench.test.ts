import { expect, test } from 'vitest';
import { pgbenchScript } from '../../bench/pgbench.ts';

test('every value of the statement becomes a literal, and no colon in a value is taken for a pgbench variable', () => {
  const values = ['{"a":null}', 7, null, Buffer.from([1, 255]), new Date(0), ['a:b', '*']];
  const script = pgbenchScript({ text: 'select f($1, $2, $3, $4, $5, $6)', values }, [], []);
  expect(script).toBe(
    `select f((E'{"a"\\x3anull}'), 7, null, E'\\x5cx01ff', E'1970-01-01T00\\x3a00\\x3a00.000Z', E'{a\\x3ab,*}');\n`,
  );
});

test('a placeholder is replaced by its expression everywhere, even within a text', () => {
  const script = pgbenchScript(
    { text: 'select $1', values: ['{"id":"@id","key":"jobs/@id/0"}'] },
    ['id random(1, 9)'],
    [{ value: '@id', expression: ':id' }],
  );
  expect(script).toBe(
    `\\set id random(1, 9)\nselect (E'{"id"\\x3a"' || (:id) || E'","key"\\x3a"jobs/' || (:id) || E'/0"}');\n`,
  );
});

test('a placeholder may be a whole value, such as a hash', () => {
  const hash = Buffer.from([1, 2]);
  const placeholders = [{ value: hash, expression: "decode(:number, 'hex')" }];
  expect(pgbenchScript({ text: 'select $1', values: [hash] }, [], placeholders)).toBe(
    "select decode(:number, 'hex');\n",
  );
});

test('quotes and backslashes of a value are preserved', () => {
  expect(pgbenchScript({ text: 'select $1', values: [`it's \\`] }, [], [])).toBe(`select (E'it\\x27s \\x5c');\n`);
});

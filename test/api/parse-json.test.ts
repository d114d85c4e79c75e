/** JSON with duplicate names is refused, and no other JSON. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/api/requests/parse-json.ts';

const repeated = (param: string) => expect.objectContaining({ code: 'parameter_invalid', param });

describe('duplicate names', () => {
  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":{},"c":[],"a":null}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"a":{"b":[0,{"c":"c","c":[]}]}}', 'a.b.1.c'],
    ['[{"a":1},{"a":1,"a":2}]', '1.a'],
    ['{"":1,"":2}', ''],
    ['{"a\\\\":"\\\\","x":{"\\"":1},"a\\\\":1}', 'a\\'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    [' {\n"a" : "{\\"b\\":1,\\"b\\":2}" ,\t"a" : 2 } ', 'a'],
  ])('a duplicate name is reported with its path: %s', (text, param) => {
    expect(() => parseJson(text)).toThrow(repeated(param));
  });

  it('a duplicate name is reported with its path below the field that contains the text', () => {
    expect(() => parseJson('{"year":1,"year":2}', 'vehicle')).toThrow(repeated('vehicle.year'));
  });

  it('a duplicate name is reported at any depth', () => {
    const objects = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown);
    fc.assert(
      fc.property(objects, fc.string(), fc.array(fc.constantFrom('list', 'object')), (inner, name, around) => {
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(inner)},${JSON.stringify(name)}:0}`;
        const text = around.reduce((held, kind) => (kind === 'list' ? `[0,${held}]` : `{"x":1,"y":${held}}`), twice);
        const path = around.map((kind) => (kind === 'list' ? '1' : 'y')).reverse();
        expect(() => parseJson(text)).toThrow(repeated([...path, name].join('.')));
      }),
    );
  });
});

it('JSON without duplicate names parses as with JSON.parse, however it is indented', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(0, 2, '\t'), (text, indent) => {
      const spelt = JSON.stringify(JSON.parse(text), null, indent);
      expect(parseJson(spelt)).toEqual(JSON.parse(text));
    }),
  );
});

it('a name in two objects, or as a value, is not a duplicate', () => {
  const text = '{"a":{"a":"a"},"b":["a","a",{"a":1},{"a":1}],"c":"a"}';
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

it.each(['', '{', '{"a":1,"a"}', '{"a":1,}', "{'a':1}", '{"a":1}{"a":1}'])('%j is not JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

it('JSON that is nested too deeply to search is refused', () => {
  expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(RangeError);
});

/** Strict JSON: `JSON.parse` silently keeps the last value of a duplicate name. */
import { visit } from 'jsonc-parser';
import { ServiceError } from '../../platform/service-error.ts';

/**
 * Parses JSON and refuses duplicate names. Throws a SyntaxError for invalid JSON, a RangeError for values nested several
 * thousand levels deep.
 * @param place position of the text in the request, such as the name of a multipart field; empty for a whole body
 * @throws ServiceError `parameter_invalid` with the path of the duplicate name as `param`
 */
export function parseJson(text: string, place = ''): unknown {
  const value: unknown = JSON.parse(text);
  const objects: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void objects.push(new Set()),
    onObjectEnd: () => void objects.pop(),
    onObjectProperty(name, _offset, _length, _line, _character, readPath) {
      const names = objects.at(-1);
      if (names?.has(name)) {
        const param = [...(place === '' ? [] : [place]), ...readPath(), name].join('.');
        throw new ServiceError('parameter_invalid', `"${param}" was given more than once. Send it once.`, { param });
      }
      names?.add(name);
    },
  });
  return value;
}

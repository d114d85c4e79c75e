/** JSON as it was meant: `JSON.parse` keeps the last of a name that an object gives twice, and says nothing. */
import { ServiceError } from '../../domain/service-error.ts';

/**
 * Reads JSON in which no object gives a name twice. Throws a SyntaxError for what is no JSON.
 * @param place where the text stands in the request, such as the name of a multipart field; empty for a whole body
 * @throws ServiceError `parameter_invalid`, with the path of a repeated name as `param`
 */
export function parseJson(text: string, place = ''): unknown {
  const value: unknown = JSON.parse(text);
  const repeated = findRepeatedName(text);
  if (repeated === null) return value;
  const param = [...(place === '' ? [] : [place]), ...repeated].join('.');
  throw new ServiceError('parameter_invalid', `"${param}" was given more than once. Give it once.`, { param });
}

/** An object or a list that is open at a place of the text. */
interface Level {
  /** So far. Null: a list. */
  names: Set<string> | null;
  /** Name or position of the member that is being read. */
  at: string | number;
}

/** The path of the first name that its object has already, or null. Reads valid JSON once, from front to back. */
function findRepeatedName(text: string): (string | number)[] | null {
  const levels: Level[] = [];
  let isNameNext = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '{':
        levels.push({ names: new Set(), at: '' });
        isNameNext = true;
        break;
      case '[':
        levels.push({ names: null, at: 0 });
        isNameNext = false;
        break;
      case '}':
      case ']':
        levels.pop();
        isNameNext = false;
        break;
      case ',': {
        const level = levels.at(-1);
        isNameNext = Boolean(level?.names);
        if (level && typeof level.at === 'number') level.at += 1;
        break;
      }
      case '"': {
        const end = endOfString(text, index);
        const level = levels.at(-1);
        if (isNameNext && level?.names) {
          // Spelt with escapes or without, it is the same name.
          level.at = JSON.parse(text.slice(index, end + 1)) as string;
          if (level.names.has(level.at)) return levels.map(({ at }) => at);
          level.names.add(level.at);
          isNameNext = false;
        }
        index = end;
        break;
      }
      default:
    }
  }
  return null;
}

/** Where the quote is that closes the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes comes before. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text[first - 1] === '\\') first -= 1;
  return (index - first) % 2 === 1;
}

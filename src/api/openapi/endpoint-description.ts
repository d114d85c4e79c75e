/** What readers of the reference must know of an endpoint beside its schemas: accepted files and test scenarios. */
import type { EndpointContract, FileInput } from '../../contracts/endpoint-contract.ts';
import { MEGABYTE, uploadLimitBytes } from '../../contracts/media-limits.ts';

const FORMATS: Readonly<Record<string, string>> = {
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/webp': 'WebP',
  'image/avif': 'AVIF',
  'video/mp4': 'MP4',
  'video/quicktime': 'QuickTime',
  'video/webm': 'WebM',
};

/** Markdown. */
export function describeEndpoint({ description, files }: EndpointContract): string {
  return files.maximum === 0 ? description : `${description}\n\n${describeFiles(files)}`;
}

/** Formats, number and sizes, as Markdown. */
export function describeFiles({
  field,
  minimum,
  maximum,
  mediaTypes,
  directMediaTypes,
  maximumBytes,
}: FileInput): string {
  const count = minimum === maximum ? plural(maximum) : `${minimum} to ${plural(maximum)}`;
  const lines = [`**Files** (\`${field}\`): ${count}; ${formatsOf(mediaTypes)}.`];
  if (directMediaTypes.length > 0) {
    const formats = directMediaTypes.length < mediaTypes.length ? ` (${formatsOf(directMediaTypes)})` : '';
    lines.push(`- Sent directly${formats}: at most ${megabytes(maximumBytes)} per file.`);
  }
  const largest = [...new Set(mediaTypes.map(uploadLimitBytes))].map((bytes) => {
    const formats = mediaTypes.filter((mediaType) => uploadLimitBytes(mediaType) === bytes);
    return formats.length < mediaTypes.length ? `${megabytes(bytes)} (${formatsOf(formats)})` : megabytes(bytes);
  });
  lines.push(`- As an [upload](/docs/uploads): ${largest.map((limit) => `at most ${limit}`).join(', ')} per file.`);
  const [first = '', ...limits] = lines;
  return `${first}\n\n${limits.join('\n')}`;
}

/** Each scenario with its meaning, as Markdown. */
export function describeScenarios({ scenarios }: EndpointContract): string {
  const meanings = Object.entries(scenarios).map(([name, meaning]) => `- \`${name}\`: ${meaning}`);
  return `Selects the outcome of a test-mode job. Live keys ignore it. See [test mode](/docs/test-mode).\n\n${meanings.join('\n')}`;
}

const plural = (files: number) => (files === 1 ? '1 file' : `${files} files`);
const megabytes = (bytes: number) =>
  bytes >= 1024 * MEGABYTE ? `${bytes / MEGABYTE / 1024} GB` : `${bytes / MEGABYTE} MB`;
const formatsOf = (mediaTypes: readonly string[]) =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    mediaTypes.map((mediaType) => FORMATS[mediaType] ?? mediaType),
  );

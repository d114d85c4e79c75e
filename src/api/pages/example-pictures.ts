/** The project's own pictures, one set for each endpoint, with what test mode finds in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { inspectArtefact } from '../../artefacts/inspection/inspect-artefact.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { exampleFile, exampleResult } from '../../endpoints/shared/examples.ts';
import { colourOf, describeShape, findPlaces, type Shape } from './find-shapes.ts';
import { escapeHtml } from './markdown.ts';

const ENDPOINTS = new URL('../../endpoints/', import.meta.url);
/** What a browser shows; also the files that are served. */
const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
};
const SHOWN_FILES = 8;

interface Picture {
  /** Of the file, where the site serves it. */
  path: string;
  type: string;
}

/** The file behind `/docs/pictures/{slug}/{name}`; null for any other name. */
export function findExampleFile(slug: string, name: string): { url: URL; type: string } | null {
  const type = TYPES[extname(name)];
  const isListed = type !== undefined && /^[\w.-]+$/.test(slug) && namesIn(slug).includes(name);
  return isListed ? { url: new URL(`${slug}/fixtures/${name}`, ENDPOINTS), type } : null;
}

/** Names of the files that an example request sends, in order. */
export function exampleNames(slug: string, count: number): string[] {
  return namesIn(slug)
    .filter((name) => /^example.*\.(?:jpg|mp4)$/.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .slice(0, count);
}

const numberOf = (name: string) => Number(/-(\d+)\./.exec(name)?.[1] ?? (name.includes('-') ? 2 : 1));

function namesIn(slug: string): string[] {
  try {
    return readdirSync(new URL(`${slug}/fixtures/`, ENDPOINTS));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The pictures of the example request with what the result marks in them, and the files that the result refers to. */
export function renderExample(endpoint: EndpointContract, count: number): string {
  const { slug, files } = endpoint;
  const result = exampleResult(slug);
  const { shapes, files: made } = findPlaces(result);
  const matte = made.find(({ name }) => name === 'matte');
  const pictures = picturesOf(endpoint, count);
  const figures = pictures.map((picture, index) =>
    renderPicture(
      picture,
      `Example ${pictures.length > 1 ? `${index + 1} ` : ''}of ${files.maximum === 0 ? 'the job' : files.field}`,
      shapes.filter(({ imageIndex, on }) => on === null && imageIndex === index),
      matte && matte.imageIndex === index ? pathOf(artefactAt(result, matte.path)) : null,
    ),
  );
  const others = made.filter((file) => file !== matte && file.name !== 'mask').slice(0, SHOWN_FILES);
  const shown = figures.length > 2 ? `<div class="made">${figures.join('')}</div>\n` : figures.join('');
  return (
    shown +
    renderFiles(
      others.map(({ path }) => ({
        name: path,
        artefact: artefactAt(result, path),
        shapes: shapes.filter(({ on }) => on === path),
      })),
    )
  );
}

/** An endpoint that takes no file shows the pictures of the job that it builds on. */
function picturesOf({ slug, files, jobReferences = [] }: EndpointContract, count: number): Picture[] {
  const [source] = jobReferences[0]?.endpoints ?? [];
  if (files.maximum === 0 && source !== undefined) {
    const made = exampleResult(source);
    const pictures = findPlaces(made).files.filter((file) => file.media_type === 'image/jpeg');
    return pictures.map(({ path }) => ({ path: pathOf(artefactAt(made, path)) ?? '', type: 'image/jpeg' }));
  }
  return exampleNames(slug, count).map((name) => ({
    path: `/docs/pictures/${slug}/${name}`,
    type: TYPES[extname(name)] ?? '',
  }));
}

function renderPicture({ path, type }: Picture, label: string, shapes: readonly Shape[], matte: string | null): string {
  if (type.startsWith('video/')) {
    return `<figure><video controls preload="metadata" src="${path}" aria-label="${label}"></video></figure>\n`;
  }
  const picture = renderOverlay({ path, type }, label, shapes, matte);
  if (shapes.length === 0 && matte === null) return `<figure>${picture}</figure>\n`;
  const legend = firstsOf(shapes).map(renderLegend).join('');
  return `<figure>${picture}<figcaption><ul class="legend">${legend}</ul></figcaption></figure>\n`;
}

/** One shape of each thing. */
const firstsOf = (shapes: readonly Shape[]) => [...new Map(shapes.map((shape) => [shape.group, shape])).values()];

function renderOverlay({ path, type }: Picture, label: string, shapes: readonly Shape[], matte: string | null): string {
  const [, slug = '', name = ''] = /^\/docs\/pictures\/(.*)\/(.*)$/.exec(path) ?? [];
  const size = sizeOf(new URL(`${slug}/fixtures/${name}`, ENDPOINTS), type);
  const image = `<img src="${path}" alt="${escapeHtml(label)}" width="${size.width}" height="${size.height}" loading="lazy">`;
  if (shapes.length === 0 && matte === null) return image;
  const found = firstsOf(shapes).map(describeShape).join('; ');
  const drawn = [
    ...(matte === null ? [] : [renderMatte(matte, size)]),
    ...shapes.map((shape) => renderShape(shape, size)),
  ].join('');
  return (
    `<div class="overlay">${image}` +
    `<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="What was found: ${escapeHtml(found || 'the vehicle')}">${drawn}</svg></div>`
  );
}

interface Size {
  width: number;
  height: number;
}

function renderShape(shape: Shape, { width, height }: Size): string {
  const colour = colourOf(shape.group);
  const paint = `stroke="${colour}" fill="${colour}"`;
  const title = `<title>${escapeHtml(describeShape(shape))}</title>`;
  const points = shape.isNormalized ? shape.points.map(({ x, y }) => ({ x: x * width, y: y * height })) : shape.points;
  const [first] = points;
  if (shape.kind === 'point' && first) {
    return `<circle class="shape" cx="${first.x}" cy="${first.y}" r="${Math.max(width, height) / 80}" ${paint}>${title}</circle>`;
  }
  const corners = points.map(({ x, y }) => `${x},${y}`).join(' ');
  return `<polygon class="shape" points="${corners}" ${paint}>${title}</polygon>`;
}

function renderMatte(path: string, { width, height }: Size): string {
  const box = `x="0" y="0" width="${width}" height="${height}"`;
  return `<mask id="matte"><image href="${path}" ${box}/></mask><rect class="matte" ${box} mask="url(#matte)" fill="${colourOf(1)}"/>`;
}

function renderLegend(shape: Shape): string {
  const mark = `<svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="3" fill="${colourOf(shape.group)}"/></svg>`;
  return `<li>${mark} ${escapeHtml(describeShape(shape))}</li>`;
}

/** What was found on a file of the result is drawn onto that file. */
function renderFiles(files: readonly { name: string; artefact: object | null; shapes: readonly Shape[] }[]): string {
  const shown = files.flatMap(({ name, artefact, shapes }) => {
    const path = pathOf(artefact);
    const type = path === null ? undefined : TYPES[extname(path)];
    if (path === null || type === undefined) return [];
    const label = `<code>${escapeHtml(name)}</code>`;
    if (type.startsWith('video/')) {
      return [
        `<figure><video controls preload="metadata" src="${path}" aria-label="${escapeHtml(name)}"></video><figcaption>${label}</figcaption></figure>`,
      ];
    }
    if (type.startsWith('image/')) {
      const picture = renderOverlay({ path, type }, name, shapes, null);
      return [`<figure>${picture}<figcaption>${label}</figcaption></figure>`];
    }
    return [`<figure><a href="${path}">${label}</a></figure>`];
  });
  return shown.length === 0 ? '' : `<div class="made">${shown.join('\n')}</div>\n`;
}

/** The object at a path such as `parts.0.cut_out`. */
function artefactAt(result: unknown, path: string): object | null {
  let value = result;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null)?.[name];
  return typeof value === 'object' ? value : null;
}

function pathOf(artefact: object | null): string | null {
  const file = artefact === null ? undefined : exampleFile(artefact);
  const [, slug, name] = /\/endpoints\/([^/]+)\/fixtures\/([^/]+)$/.exec(file?.pathname ?? '') ?? [];
  return name === undefined ? null : `/docs/pictures/${slug}/${name}`;
}

const sizes = new Map<string, Size>();

function sizeOf(file: URL, type: string): Size {
  const size = sizes.get(file.href) ?? inspectArtefact(readFileSync(file), type);
  if (size === null) throw new Error(`${file.href} is no picture`);
  sizes.set(file.href, size);
  return size;
}

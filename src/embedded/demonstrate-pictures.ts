/** Pictures that live mode makes, from a customer's view: a background, a plate, a spin and a film of drawn pictures, kept in a folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Job, VehicleInferenceClient } from '../client/index.ts';
import type { ServiceDescription } from './service-description.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';

export interface PicturesOptions {
  service: Pick<ServiceDescription, 'apiUrl' | 'keys'>;
  /** Where what was made is kept, after the service is gone. */
  madeDirectory: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Drawn by the project: eight views of one vehicle, out of order. */
const WALK = ['', '-2', '-3', '-4', '-5', '-6', '-7', '-8'];
/** A spin and a film on a slow machine. */
const JOB_TIMEOUT_MS = 180_000;

/** Returns the broken promises. */
export async function demonstratePictures(options: PicturesOptions): Promise<string[]> {
  const { service, madeDirectory, say, signal } = options;
  const client = new VehicleInferenceClient({ apiKey: service.keys.live, baseUrl: service.apiUrl });
  const problems: string[] = [];
  mkdirSync(madeDirectory, { recursive: true });

  const ended = async <Slug extends 'render.background' | 'render.plate' | 'render.360' | 'render.video'>(
    slug: Slug,
    submitted: { id: string },
  ): Promise<NonNullable<Job<Slug>['result']> | null> => {
    const either = AbortSignal.any([signal, AbortSignal.timeout(JOB_TIMEOUT_MS)]);
    let job: Job<Slug> | null = null;
    for await (const state of client.followJob<Slug>(submitted.id, { signal: either })) job = state;
    if (job?.status === 'succeeded' && job.result) {
      say(`   ${slug}: ${job.credits.charged} of ${job.credits.reserved} credits charged`);
      return job.result;
    }
    problems.push(`${slug} ended as ${job?.status}: ${JSON.stringify(job?.error)}`);
    return null;
  };
  const keep = async (file: { url: string } | null | undefined, name: string) => {
    if (!file) {
      problems.push(`${name} was not made`);
      return;
    }
    const answer = await fetch(file.url, { signal });
    if (!answer.ok) problems.push(`${name} cannot be fetched: ${answer.status}`);
    else writeFileSync(join(madeDirectory, name), new Uint8Array(await answer.arrayBuffer()));
  };

  const images = WALK.map((name) => readPicture('render.360', `example${name}`));
  const image = images[0] ?? new Uint8Array();
  const background = await ended('render.background', await client.submit('render.background', { image }, { signal }));
  await keep(background?.composite, 'background.jpg');

  const plated = readPicture('render.plate', 'example');
  const plate = await ended('render.plate', await client.submit('render.plate', { image: plated }, { signal }));
  await keep(plate?.image, 'plate.jpg');
  if (plate?.plates.length === 0) problems.push('no plate was found');

  const spin = await ended('render.360', await client.submit('render.360', { images }, { signal }));
  for (const frame of spin?.frames ?? []) await keep(frame.image, `spin-${frame.index}.jpg`);

  const film = await ended('render.video', await client.submit('render.video', { images }, { signal }));
  await keep(film?.video, 'film.mp4');
  await keep(film?.poster, 'film-poster.jpg');
  say(`   look: ${madeDirectory}`);
  return problems;
}

function readPicture(slug: string, name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints', slug, 'fixtures', `${name}.jpg`)));
}

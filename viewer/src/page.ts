/** `/viewer`: shows the results of jobs. The key that reads them is typed in, and kept in the field only. */
import { VehicleHotspots, VehicleSpin } from './vehicle-viewer.ts';

const field = (id: string) => document.getElementById(id) as HTMLInputElement;
const [key, spin, hotspots, picture] = ['key', 'spin', 'hotspots', 'picture'].map(field) as [
  HTMLInputElement,
  HTMLInputElement,
  HTMLInputElement,
  HTMLInputElement,
];
const message = document.getElementById('message') as HTMLElement;
const place = document.getElementById('place') as HTMLElement;

class RefusedError extends Error {}

// Ids of jobs are no secrets: without a key of their organisation they open nothing.
const named = new URLSearchParams(location.hash.slice(1));
spin.value = named.get('spin') ?? '';
hotspots.value = named.get('hotspots') ?? '';

document.querySelector('form')?.addEventListener('submit', (event) => {
  event.preventDefault();
  message.textContent = '';
  place.replaceChildren();
  show().catch((error: unknown) => {
    message.textContent =
      error instanceof RefusedError ? error.message : 'The service could not be reached. Try it again.';
  });
});

async function show(): Promise<void> {
  const [spinJob, hotspotsJob] = [spin.value.trim(), hotspots.value.trim()];
  const file = picture.files?.[0];
  if (spinJob === '' && (hotspotsJob === '' || !file)) {
    throw new RefusedError('Name a spin or film job, or a hotspots job and its picture.');
  }
  const marks = hotspotsJob === '' ? undefined : await resultOf(hotspotsJob);
  if (spinJob !== '') {
    const result = await resultOf(spinJob);
    place.replaceChildren(filmOf(result) ?? spinOf(result, marks));
  } else if (file) {
    const element = new VehicleHotspots();
    element.hotspots = marks;
    element.setAttribute('alt', file.name);
    element.setAttribute('src', URL.createObjectURL(file));
    place.replaceChildren(element);
  }
  history.replaceState(null, '', `#${new URLSearchParams({ spin: spinJob, hotspots: hotspotsJob })}`);
}

/** Null for a result that is no film. */
function filmOf(result: unknown): HTMLVideoElement | null {
  const { video, poster } = result as { video?: { url?: string }; poster?: { url?: string } };
  if (!video?.url || !poster?.url) return null;
  const element = document.createElement('video');
  element.controls = true;
  element.preload = 'metadata';
  element.poster = poster.url;
  element.src = video.url;
  element.setAttribute('aria-label', 'Walk around the vehicle');
  return element;
}

function spinOf(result: unknown, marks: unknown): VehicleSpin {
  const element = new VehicleSpin();
  element.spin = result;
  if (marks !== undefined) element.hotspots = marks;
  return element;
}

async function resultOf(jobId: string): Promise<unknown> {
  const response = await fetch(`/v1/jobs/${encodeURIComponent(jobId)}`, {
    headers: { Authorization: `Bearer ${key.value.trim()}` },
  });
  const body = (await response.json()) as { error?: { message: string }; status?: string; result?: unknown };
  if (!response.ok) throw new RefusedError(body.error?.message ?? `The service returned ${response.status}.`);
  if (!body.result) throw new RefusedError(`The job ${jobId} has no result: it is ${body.status}.`);
  return body.result;
}

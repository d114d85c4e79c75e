import { HotspotLayer } from './hotspot-layer.ts';
import { type Hotspot, loadingOrder, readHotspots, readSpin, type Spin, shortestWay } from './read-results.ts';
import { make } from './styles.ts';
import { ViewerElement } from './viewer-element.ts';

/** Pictures loaded at a time. */
const AT_A_TIME = 4;
/** Of a turn towards a hotspot. */
const STEP_MS = 45;
/** Degrees that Page Up and Page Down turn. */
const LEAP_DEGREES = 45;

/**
 * A vehicle that turns: the frames of a `render.360` result.
 *
 * Attributes: `src`, an address of the result as JSON; `hotspots-src`, of a `viewer.hotspots` result; `label`, what the element is
 * called for screen readers. Instead of the addresses: the properties `spin` and `hotspots`, or a child
 * `<script type="application/json">` with `{"spin": …, "hotspots": …}`.
 * Events: `ready` when the first picture shows; `framechange` with `detail.index`; `hotspotopen` and `hotspotclose` with
 * `detail.id`; `error` with `detail.reason`.
 * Parts: `stage`, `picture`, `marks`, `mark`, `details`, `list`, `progress`, `message`.
 */
export class VehicleSpin extends ViewerElement {
  static readonly observedAttributes = ['src', 'hotspots-src', 'label'];
  readonly #layer = new HotspotLayer({
    reveal: (hotspot) => this.#reveal(hotspot),
    opened: ({ id }) => this.dispatchEvent(new CustomEvent('hotspotopen', { detail: { id } })),
    closed: ({ id }) => this.dispatchEvent(new CustomEvent('hotspotclose', { detail: { id } })),
  });
  readonly #canvas = make('canvas', { class: 'picture turn', part: 'picture', role: 'slider', tabindex: '0' });
  readonly #progress = make('progress', { part: 'progress', 'aria-label': 'Pictures loaded', value: '0' });
  #spinGiven: unknown;
  #hotspotsGiven: unknown;
  #spin: Spin | null = null;
  #images: (HTMLImageElement | null)[] = [];
  #index = 0;
  #turn = 0;
  #drag: { pointer: number; x: number; index: number } | null = null;

  constructor() {
    super();
    const { marks, details, list } = this.#layer;
    const stage = make(
      'div',
      { class: 'stage', part: 'stage' },
      this.#canvas,
      marks,
      this.#progress,
      this.message,
      details,
    );
    this.root.append(stage, list);
    this.#canvas.hidden = true;
    this.#progress.hidden = true;
    this.#canvas.addEventListener('pointerdown', (event) => this.#grab(event));
    this.#canvas.addEventListener('pointermove', (event) => this.#pull(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      this.#canvas.addEventListener(end, () => {
        this.#drag = null;
      });
    }
    this.#canvas.addEventListener('keydown', (event) => this.#press(event));
  }

  /** A result of `render.360`, or its job. */
  get spin(): unknown {
    return this.#spinGiven;
  }
  set spin(value: unknown) {
    this.#spinGiven = value;
    this.restart();
  }

  /** A result of `viewer.hotspots` for this spin, or its job. */
  get hotspots(): unknown {
    return this.#hotspotsGiven;
  }
  set hotspots(value: unknown) {
    this.#hotspotsGiven = value;
    this.restart();
  }

  /** Index of the frame that shows. */
  get frameIndex(): number {
    return this.#index;
  }
  set frameIndex(index: number) {
    this.#stop();
    this.#show(index);
  }

  /** Turns to the frame that shows a hotspot best, and opens it. */
  openHotspot(id: string): void {
    this.#layer.open(id);
  }

  protected async begin(signal: AbortSignal): Promise<void> {
    this.#stop();
    this.#spin = null;
    this.#layer.show([]);
    this.#canvas.hidden = true;
    this.#progress.hidden = true;
    const given = this.#spinGiven ?? (await this.given('src', 'spin', signal));
    if (given === undefined) return;
    const spin = readSpin(given);
    const marks = this.#hotspotsGiven ?? (await this.given('hotspots-src', 'hotspots', signal));
    const hotspots = marks === undefined ? [] : readHotspots(marks);
    if (signal.aborted) return;
    this.#spin = spin;
    this.#images = spin.frames.map(() => null);
    this.#index = spin.startIndex;
    this.#canvas.width = spin.width;
    this.#canvas.height = spin.height;
    this.#canvas.setAttribute('aria-label', this.getAttribute('label') ?? 'Vehicle, seen from all sides');
    this.#canvas.setAttribute('aria-valuemin', '1');
    this.#canvas.setAttribute('aria-valuemax', String(spin.frames.length));
    await this.#load(spin, hotspots, signal);
  }

  async #load(spin: Spin, hotspots: readonly Hotspot[], signal: AbortSignal): Promise<void> {
    const queue = loadingOrder(spin.frames.length, spin.startIndex);
    this.#progress.max = queue.length;
    this.#progress.value = 0;
    this.#progress.hidden = false;
    let isReady = false;
    const work = async () => {
      for (let index = queue.shift(); index !== undefined && !signal.aborted; index = queue.shift()) {
        const image = await loaded(spin.frames[index]?.url ?? '');
        if (signal.aborted) return;
        this.#images[index] = image;
        this.#progress.value += 1;
        if (!image) continue;
        if (!isReady) {
          isReady = true;
          this.#canvas.hidden = false;
          this.#layer.show(hotspots);
          this.#show(this.#index);
          this.dispatchEvent(new CustomEvent('ready'));
        } else if (index === this.#index || !this.#images[this.#index]) this.#draw();
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    if (signal.aborted) return;
    this.#progress.hidden = true;
    if (!isReady) throw new TypeError('No picture could be loaded.');
  }

  #show(index: number): void {
    const { frames = [] } = this.#spin ?? {};
    if (frames.length === 0) return;
    const before = this.#index;
    this.#index = ((Math.round(index) % frames.length) + frames.length) % frames.length;
    const frame = frames[this.#index];
    this.#canvas.setAttribute('aria-valuenow', String(this.#index + 1));
    const view = (frame?.view ?? '').replaceAll('_', ' ');
    this.#canvas.setAttribute('aria-valuetext', `${view}, picture ${this.#index + 1} of ${frames.length}`);
    this.#draw();
    this.#layer.place(this.#index);
    if (before === this.#index) return;
    this.dispatchEvent(new CustomEvent('framechange', { detail: { index: this.#index } }));
  }

  /** Until a frame is loaded, its nearest neighbour shows. */
  #draw(): void {
    const count = this.#images.length;
    const [nearest] = [...this.#images.keys()]
      .filter((index) => this.#images[index])
      .sort((a, b) => Math.abs(shortestWay(this.#index, a, count)) - Math.abs(shortestWay(this.#index, b, count)));
    const image = nearest === undefined ? null : this.#images[nearest];
    if (image) this.#canvas.getContext('2d')?.drawImage(image, 0, 0, this.#canvas.width, this.#canvas.height);
  }

  #reveal(hotspot: Hotspot): void {
    this.#stop();
    if (hotspot.places.has(this.#index)) return;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) this.#show(hotspot.bestIndex);
    else this.#turnTo(hotspot);
  }

  /** Draws the frames between. To everything else, the element is at the last one already. */
  #turnTo(hotspot: Hotspot): void {
    const count = this.#spin?.frames.length ?? 1;
    const from = this.#index;
    const way = shortestWay(from, hotspot.bestIndex, count);
    this.#show(hotspot.bestIndex);
    let done = 0;
    const step = () => {
      const shown = from + Math.sign(way) * done;
      done += 1;
      const image = this.#images[((shown % count) + count) % count];
      if (image) this.#canvas.getContext('2d')?.drawImage(image, 0, 0, this.#canvas.width, this.#canvas.height);
      if (done <= Math.abs(way)) this.#turn = window.setTimeout(step, STEP_MS);
      else this.#stop();
    };
    // They are already where the last frame has them.
    this.#layer.marks.hidden = true;
    step();
  }

  /** Ends a turn at its last frame. */
  #stop(): void {
    clearTimeout(this.#turn);
    this.#layer.marks.hidden = false;
    this.#draw();
  }

  #grab(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#stop();
    this.#canvas.setPointerCapture(event.pointerId);
    this.#drag = { pointer: event.pointerId, x: event.clientX, index: this.#index };
  }

  /** The width of the picture is one turn. The side that is near follows the pointer. */
  #pull(event: PointerEvent): void {
    if (this.#drag?.pointer !== event.pointerId) return;
    const count = this.#spin?.frames.length ?? 0;
    const share = (event.clientX - this.#drag.x) / (this.#canvas.clientWidth || 1);
    const index = this.#drag.index + Math.round(share * count);
    if (index !== this.#index) this.#show(index);
  }

  #press(event: KeyboardEvent): void {
    const count = this.#spin?.frames.length ?? 0;
    const leap = Math.max(1, Math.round((count * LEAP_DEGREES) / 360));
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: this.#index + 1,
      ArrowUp: this.#index + 1,
      ArrowLeft: this.#index - 1,
      ArrowDown: this.#index - 1,
      PageUp: this.#index + leap,
      PageDown: this.#index - leap,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#stop();
    this.#show(target);
  }
}

/** Null when it cannot be loaded. */
async function loaded(url: string): Promise<HTMLImageElement | null> {
  const image = new Image();
  image.src = url;
  return image.decode().then(
    () => image,
    () => null,
  );
}

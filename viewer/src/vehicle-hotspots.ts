import { HotspotLayer } from './hotspot-layer.ts';
import { readHotspots } from './read-results.ts';
import { make } from './styles.ts';
import { ViewerElement } from './viewer-element.ts';

/**
 * A picture with the hotspots that `render.hotspots` placed on it.
 *
 * Attributes: `src`, the address of the picture; `alt`, what it shows; `hotspots-src`, an address of the result as JSON. Instead of
 * `hotspots-src`: the property `hotspots`, or a child `<script type="application/json">` with `{"hotspots": …}`.
 * Events: `ready`; `hotspotopen` and `hotspotclose` with `detail.id`; `error` with `detail.reason`.
 * Parts: `stage`, `picture`, `marks`, `mark`, `details`, `list`, `message`.
 */
export class VehicleHotspots extends ViewerElement {
  static readonly observedAttributes = ['src', 'alt', 'hotspots-src'];
  readonly #layer = new HotspotLayer({
    reveal: () => undefined,
    opened: ({ id }) => this.dispatchEvent(new CustomEvent('hotspotopen', { detail: { id } })),
    closed: ({ id }) => this.dispatchEvent(new CustomEvent('hotspotclose', { detail: { id } })),
  });
  readonly #image = make('img', { class: 'picture', part: 'picture', alt: '' });
  #hotspots: unknown;

  constructor() {
    super();
    const { marks, details, list } = this.#layer;
    this.root.append(make('div', { class: 'stage', part: 'stage' }, this.#image, marks, this.message, details), list);
  }

  /** A result of `render.hotspots`, or its job. */
  get hotspots(): unknown {
    return this.#hotspots;
  }
  set hotspots(value: unknown) {
    this.#hotspots = value;
    this.restart();
  }

  /** Opens a hotspot by its id. */
  openHotspot(id: string): void {
    this.#layer.open(id);
  }

  protected async begin(signal: AbortSignal): Promise<void> {
    const address = this.getAttribute('src');
    this.#layer.show([]);
    if (address === null) return;
    this.#image.alt = this.getAttribute('alt') ?? 'Vehicle';
    this.#image.src = address;
    const given = this.#hotspots ?? (await this.given('hotspots-src', 'hotspots', signal));
    await this.#image.decode().catch(() => {
      throw new TypeError('The picture could not be loaded.');
    });
    if (signal.aborted) return;
    if (given !== undefined) this.#layer.show(readHotspots(given));
    this.dispatchEvent(new CustomEvent('ready'));
  }
}

/** Marks over a picture, what one of them says, and a list of all, for either component. */
import type { Hotspot } from './read-results.ts';
import { make } from './styles.ts';

interface Handlers {
  /** Called before a hotspot opens, from the list also for one that the frame does not show. */
  reveal(hotspot: Hotspot): void;
  opened(hotspot: Hotspot): void;
  closed(hotspot: Hotspot): void;
}

export class HotspotLayer {
  readonly marks = make('div', { class: 'marks', part: 'marks' });
  readonly details = make('div', { class: 'details', part: 'details', id: 'details', role: 'group', tabindex: '-1' });
  readonly list = make('details', { class: 'list', part: 'list' });
  readonly #handlers: Handlers;
  #hotspots: readonly Hotspot[] = [];
  #buttons = new Map<Hotspot, HTMLButtonElement>();
  #frameIndex = 0;
  #open: Hotspot | null = null;
  /** What had the focus when the open hotspot was opened. */
  #opener: HTMLElement | null = null;

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
    this.details.hidden = true;
    this.list.hidden = true;
    this.details.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
    this.marks.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
  }

  show(hotspots: readonly Hotspot[]): void {
    this.close();
    this.#hotspots = hotspots;
    this.#buttons = new Map(hotspots.map((hotspot) => [hotspot, this.#markOf(hotspot)]));
    this.marks.replaceChildren(...this.#buttons.values());
    this.list.hidden = hotspots.length === 0;
    this.list.replaceChildren(
      make('summary', {}, `Hotspots (${hotspots.length})`),
      make('ul', {}, ...hotspots.map((hotspot) => make('li', {}, this.#itemOf(hotspot)))),
    );
    this.place(this.#frameIndex);
  }

  /** Moves the marks to where the frame shows their hotspots. */
  place(frameIndex: number): void {
    this.#frameIndex = frameIndex;
    for (const [hotspot, button] of this.#buttons) {
      const place = hotspot.places.get(frameIndex);
      button.hidden = place === undefined;
      if (!place) continue;
      button.style.left = `${place.x * 100}%`;
      button.style.top = `${place.y * 100}%`;
      button.style.opacity = String(0.45 + 0.55 * place.prominence);
    }
    if (this.#open && !this.#open.places.has(frameIndex)) this.close();
  }

  open(id: string): void {
    const hotspot = this.#hotspots.find((each) => each.id === id);
    if (hotspot) this.#openFrom(hotspot, null);
  }

  close(): void {
    const hotspot = this.#open;
    if (!hotspot) return;
    const hadFocus = this.details.contains((this.details.getRootNode() as ShadowRoot).activeElement);
    this.#open = null;
    this.details.hidden = true;
    this.#buttons.get(hotspot)?.setAttribute('aria-expanded', 'false');
    // Focus must not fall back to the top of the page.
    if (hadFocus) this.#opener?.focus();
    this.#handlers.closed(hotspot);
  }

  #openFrom(hotspot: Hotspot, opener: HTMLElement | null): void {
    this.close();
    this.#handlers.reveal(hotspot);
    this.#open = hotspot;
    this.#opener = opener;
    const close = make('button', { class: 'close', type: 'button', 'aria-label': 'Close' }, '×');
    close.addEventListener('click', () => this.close());
    const facts = [hotspot.kind, hotspot.severity].filter((fact) => fact !== null).join(', ');
    this.details.replaceChildren(make('p', {}, hotspot.label), make('p', {}, sentence(facts)), close);
    this.details.setAttribute('aria-label', hotspot.label);
    this.details.hidden = false;
    this.#buttons.get(hotspot)?.setAttribute('aria-expanded', 'true');
    if (opener) this.details.focus({ preventScroll: true });
    this.#handlers.opened(hotspot);
  }

  #markOf(hotspot: Hotspot): HTMLButtonElement {
    const button = make('button', {
      class: 'mark',
      part: 'mark',
      type: 'button',
      'data-kind': hotspot.kind,
      'aria-label': hotspot.label,
      'aria-expanded': 'false',
      'aria-controls': 'details',
    });
    button.addEventListener('click', () => (this.#open === hotspot ? this.close() : this.#openFrom(hotspot, button)));
    return button;
  }

  #itemOf(hotspot: Hotspot): HTMLButtonElement {
    const button = make('button', { type: 'button' }, hotspot.label);
    button.addEventListener('click', () => this.#openFrom(hotspot, button));
    return button;
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ');
}

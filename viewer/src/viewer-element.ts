/** What both components have in common: shadow root, lazy start, JSON from a child or an address, and failures. */
import { make, useStyles } from './styles.ts';

/** Pictures are loaded when an element is this near to the window. */
const NEAR = '200px';

/** `unreachable`: nothing came back; `unknown_result`: it is not a result that the component shows. */
export type FailureReason = 'unreachable' | 'unknown_result';

const MESSAGES: Readonly<Record<FailureReason, string>> = {
  unreachable: 'The pictures could not be loaded. Their links may have expired.',
  unknown_result: 'There is nothing here that can be shown.',
};

export abstract class ViewerElement extends HTMLElement {
  protected readonly root = this.attachShadow({ mode: 'open' });
  protected readonly message = make('p', { class: 'message', part: 'message', role: 'status' });
  /** Ends what was begun for earlier data. */
  #work = new AbortController();
  #seen: IntersectionObserver | null = null;
  #isSeen = false;

  constructor() {
    super();
    useStyles(this.root);
    this.message.hidden = true;
  }

  connectedCallback(): void {
    if (this.#isSeen || this.#seen) return;
    this.#seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        this.#seen?.disconnect();
        this.#isSeen = true;
        this.restart();
      },
      { rootMargin: NEAR },
    );
    this.#seen.observe(this);
  }

  disconnectedCallback(): void {
    // A move within the page disconnects and connects again at once.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#work.abort();
      this.#seen?.disconnect();
      this.#seen = null;
      this.#isSeen = false;
    });
  }

  attributeChangedCallback(): void {
    this.restart();
  }

  /** Begins with the current data, once the element is near the window. */
  protected restart(): void {
    if (!this.#isSeen) return;
    this.#work.abort();
    const work = new AbortController();
    this.#work = work;
    this.message.hidden = true;
    this.begin(work.signal).catch((error: unknown) => {
      if (work.signal.aborted) return;
      this.fail(error instanceof TypeError ? 'unreachable' : 'unknown_result');
    });
  }

  /** @throws TypeError when nothing can be reached; any other Error for data that cannot be shown */
  protected abstract begin(signal: AbortSignal): Promise<void>;

  protected fail(reason: FailureReason): void {
    this.message.textContent = MESSAGES[reason];
    this.message.hidden = false;
    this.dispatchEvent(new CustomEvent('error', { detail: { reason } }));
  }

  /** The JSON at the address in an attribute, or the field `name` of the JSON in a child; undefined without either. */
  protected async given(attribute: string, name: string, signal: AbortSignal): Promise<unknown> {
    const address = this.getAttribute(attribute);
    if (address !== null) {
      const response = await fetch(address, { signal });
      if (!response.ok) throw new TypeError(`The address returned ${response.status}.`);
      return await response.json();
    }
    const child = this.querySelector(':scope > script[type="application/json"]');
    return child ? (JSON.parse(child.textContent ?? '') as Record<string, unknown>)[name] : undefined;
  }
}

const CSS = `
:host { display: block; position: relative; font: 1rem/1.4 system-ui, sans-serif; color: #16191d; }
:host([hidden]) { display: none; }
[hidden] { display: none !important; }
.stage { position: relative; overflow: hidden; background: #e9ecef; border-radius: 6px; }
.picture { display: block; width: 100%; height: auto; }
.turn { cursor: grab; touch-action: pan-y; user-select: none; -webkit-user-select: none; }
.turn:active { cursor: grabbing; }
.turn:focus-visible, button:focus-visible, summary:focus-visible { outline: 3px solid #0b57d0; outline-offset: -3px; }
.marks { position: absolute; inset: 0; pointer-events: none; }
.mark { position: absolute; width: 2rem; height: 2rem; margin: -1rem 0 0 -1rem; padding: 0; border: 0; background: none;
  pointer-events: auto; cursor: pointer; }
.mark::before { content: ''; position: absolute; inset: 0.5rem; border-radius: 50%; background: #0b57d0;
  border: 2px solid #fff; box-shadow: 0 0 0 1px #16191d; }
.mark[data-kind='damage']::before { background: #b3261e; border-radius: 3px; transform: rotate(45deg); }
.mark[aria-expanded='true']::before { inset: 0.3rem; }
.mark:focus-visible { outline-offset: 0; border-radius: 50%; background: #fff8; }
progress { position: absolute; inset: auto 0 0; width: 100%; height: 4px; border: 0; }
.details { position: absolute; inset: auto 0.5rem 0.5rem; max-width: 24rem; padding: 0.6rem 3rem 0.6rem 0.9rem;
  border-radius: 6px; background: #fff; box-shadow: 0 2px 10px #0006; }
.details p { margin: 0; }
.details p:first-of-type { font-weight: 600; }
.close { position: absolute; top: 0.3rem; right: 0.3rem; width: 2.2rem; height: 2.2rem; border: 0; border-radius: 4px;
  background: none; color: inherit; font: inherit; font-size: 1.3rem; line-height: 1; cursor: pointer; }
.list summary { padding: 0.6rem 0; cursor: pointer; color: var(--vehicle-viewer-text, inherit); }
.list ul { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0.4rem; }
.list button { min-height: 2.2rem; padding: 0.2rem 0.8rem; border: 1px solid #5f6770; border-radius: 2rem; background: #fff;
  color: #16191d; font: inherit; cursor: pointer; }
.message { margin: 0; padding: 1rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

let sheet: CSSStyleSheet | undefined;

/** One sheet for all elements. A policy that forbids inline styles allows it. */
export function useStyles(root: ShadowRoot): void {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  root.adoptedStyleSheets = [sheet];
}

/** Creates an element. Text is text: nothing of a result becomes markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

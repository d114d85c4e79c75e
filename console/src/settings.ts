/** What the API wrote into the page. */
export interface Settings {
  clientId: string;
  authorizationUrl: string;
  tokenUrl: string;
  /** Null: there is no Temporal Web to link to. */
  temporalUrl: string | null;
  temporalNamespace: string;
}

const contentOf = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name="console-${name}"]`)?.content ?? '';

export const settings = JSON.parse(contentOf('settings')) as Settings;
/** Of the styles that the component library adds. */
export const nonce = contentOf('nonce');

/** What the caller must change. `param` is a field of the request. */
export interface Refusal {
  kind: 'refused';
  param: string;
  message: string;
}

export const refused = (param: string, message: string): Refusal => ({ kind: 'refused', param, message });

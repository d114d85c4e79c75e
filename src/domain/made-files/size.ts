/** Of a picture or film as it is shown, in pixels. */
export interface Size {
  width: number;
  height: number;
}

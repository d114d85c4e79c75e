/** Displayed size of a picture or film, in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** How a vehicle lies in its picture. */

export const FRAMINGS = ['well_framed', 'cropped', 'too_far', 'too_close', 'off_center'] as const;

export const PICTURE_EDGES = ['left', 'top', 'right', 'bottom'] as const;

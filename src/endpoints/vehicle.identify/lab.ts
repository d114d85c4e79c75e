/** CIELAB of sRGB under D65: lightness 0 to 100, and the opponent colours green to red and blue to yellow. */
export interface Lab {
  lightness: number;
  a: number;
  b: number;
}

const WHITE = { x: 0.95047, y: 1, z: 1.08883 };

/** Linear light of each 8-bit level. Source: IEC 61966-2-1. */
const LINEAR = Float64Array.from({ length: 256 }, (_, level) => {
  const value = level / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

/** Of an 8-bit sRGB colour. Source: CIE 15:2004. */
export function toLab(red: number, green: number, blue: number): Lab {
  const [r, g, b] = [LINEAR[red] ?? 0, LINEAR[green] ?? 0, LINEAR[blue] ?? 0];
  const x = compressed((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / WHITE.x);
  const y = compressed((0.2126729 * r + 0.7151522 * g + 0.072175 * b) / WHITE.y);
  const z = compressed((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / WHITE.z);
  return { lightness: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z) };
}

function compressed(value: number): number {
  return value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116;
}

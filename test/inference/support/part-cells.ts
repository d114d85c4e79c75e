export const EVERY_CELL = Array.from({ length: 64 }, (_, cell): [number, number] => [cell % 8, Math.floor(cell / 8)]);

/** A network of semantic segmentation that sees parts in cells of 8 × 8 pixels. */
export function partCells(cells: Readonly<Record<string, readonly (readonly [number, number])[]>>) {
  const labels = [null, ...Object.keys(cells)];
  const data = new Float32Array(labels.length * 64).fill(5, 0, 64);
  for (const [index, places] of Object.values(cells).entries()) {
    for (const [x, y] of places) data[(index + 1) * 64 + y * 8 + x] = 20;
  }
  return {
    labels,
    decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
    says: { logits: { shape: [1, labels.length, 8, 8], data } },
  };
}

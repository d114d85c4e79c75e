/** The bytes of a model in the database: JSON whose numeric lists are base64. */
import type { Trees } from './boosted-trees.ts';
import type { MarketModel } from './market-model.ts';

interface EncodedTrees {
  start: number;
  roots: string;
  feature: string;
  threshold: string;
  left: string;
  right: string;
}

type EncodedModel = Omit<MarketModel, 'price' | 'spread'> & { price: EncodedTrees; spread: EncodedTrees };

export function encodeModel(model: MarketModel): Buffer {
  const encoded: EncodedModel = { ...model, price: encodeTrees(model.price), spread: encodeTrees(model.spread) };
  return Buffer.from(JSON.stringify(encoded));
}

export function decodeModel(bytes: Buffer): MarketModel {
  const encoded = JSON.parse(bytes.toString()) as EncodedModel;
  return { ...encoded, price: decodeTrees(encoded.price), spread: decodeTrees(encoded.spread) };
}

function encodeTrees({ start, ...lists }: Trees): EncodedTrees {
  const text = (list: Int32Array | Int8Array | Float32Array) =>
    Buffer.from(list.buffer, list.byteOffset, list.byteLength).toString('base64');
  return {
    start,
    roots: text(lists.roots),
    feature: text(lists.feature),
    threshold: text(lists.threshold),
    left: text(lists.left),
    right: text(lists.right),
  };
}

function decodeTrees({ start, roots, feature, threshold, left, right }: EncodedTrees): Trees {
  // A copy, because views need an aligned buffer of their own.
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64')).buffer;
  return {
    start,
    roots: new Int32Array(bytes(roots)),
    feature: new Int8Array(bytes(feature)),
    threshold: new Float32Array(bytes(threshold)),
    left: new Int32Array(bytes(left)),
    right: new Int32Array(bytes(right)),
  };
}

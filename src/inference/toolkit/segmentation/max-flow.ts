/**
 * The minimum cut of a grid of pixels. Source: Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow algorithms
 * for energy minimization in vision", 2004.
 */

/** To the neighbours right, left, below, above and by the corners: a direction and its opposite differ in the last bit. */
export const STEPS_X = [1, -1, 0, 0, 1, -1, -1, 1];
export const STEPS_Y = [0, 0, 1, -1, 1, -1, 1, -1];

const [NONE, TERMINAL, ORPHAN] = [-1, -2, -3];
const UNKNOWN_DISTANCE = 0x7fffffff;

export interface Grid {
  /** The node at the end of arc `node × 8 + direction`, or −1. */
  heads: Int32Array;
  /** Capacity of each arc, from 0. Becomes the residual. */
  capacities: Float32Array;
  /** Of each node, the capacity from the source less that to the sink. Becomes the residual. */
  terminals: Float32Array;
}

/** @returns for each node, 1 on the source's side of the cut, else 0 */
export function minimumCut({ heads, capacities, terminals }: Grid): Uint8Array {
  const count = terminals.length;
  /** The arc from a node to its parent. */
  const parents = new Int32Array(count).fill(NONE);
  const isSink = new Uint8Array(count);
  const distances = new Int32Array(count);
  const stamps = new Int32Array(count);
  const isActive = new Uint8Array(count);
  // A ring: no node is in it twice.
  const ring = new Int32Array(count + 1);
  let [first, end, time] = [0, 0, 0];
  let orphans: number[] = [];

  const activate = (node: number) => {
    if (isActive[node]) return;
    isActive[node] = 1;
    ring[end] = node;
    end = end === count ? 0 : end + 1;
  };
  const opposite = (arc: number) => (heads[arc] as number) * 8 + ((arc & 7) ^ 1);
  /** What can flow along the tree's arc between a node and the node at the arc's end, away from the source. */
  const room = (arc: number, sink: number) => capacities[sink ? arc : opposite(arc)] as number;
  const orphan = (node: number) => {
    parents[node] = ORPHAN;
    orphans.push(node);
  };

  for (let node = 0; node < count; node += 1) {
    const terminal = terminals[node] as number;
    if (terminal === 0) continue;
    parents[node] = TERMINAL;
    isSink[node] = terminal < 0 ? 1 : 0;
    distances[node] = 1;
    activate(node);
  }

  /** Grows a tree from a node. @returns an arc from the source's tree to the sink's, or NONE */
  const grow = (node: number): number => {
    const sink = isSink[node] as number;
    for (let arc = node * 8; arc < node * 8 + 8; arc += 1) {
      const head = heads[arc] as number;
      if (head < 0 || (capacities[sink ? opposite(arc) : arc] as number) <= 0) continue;
      if (parents[head] === NONE) {
        isSink[head] = sink;
        parents[head] = opposite(arc);
        stamps[head] = stamps[node] as number;
        distances[head] = (distances[node] as number) + 1;
        activate(head);
      } else if (isSink[head] !== sink) {
        return sink ? opposite(arc) : arc;
      } else if (
        (stamps[head] as number) <= (stamps[node] as number) &&
        (distances[head] as number) > (distances[node] as number)
      ) {
        parents[head] = opposite(arc);
        stamps[head] = stamps[node] as number;
        distances[head] = (distances[node] as number) + 1;
      }
    }
    return NONE;
  };

  /** Walks from a node to its root. */
  const walk = (start: number, visit: (node: number, arc: number) => void): number => {
    let node = start;
    while ((parents[node] as number) >= 0) {
      const arc = parents[node] as number;
      visit(node, arc);
      node = heads[arc] as number;
    }
    return node;
  };

  const augment = (middle: number) => {
    const ends = [middle >> 3, heads[middle] as number] as const;
    let flow = capacities[middle] as number;
    for (const start of ends) {
      const root = walk(start, (node, arc) => {
        flow = Math.min(flow, room(arc, isSink[node] as number));
      });
      flow = Math.min(flow, Math.abs(terminals[root] as number));
    }
    const push = (arc: number) => {
      capacities[arc] = (capacities[arc] as number) - flow;
      capacities[opposite(arc)] = (capacities[opposite(arc)] as number) + flow;
    };
    push(middle);
    for (const start of ends) {
      const saturated: number[] = [];
      const root = walk(start, (node, arc) => {
        const used = isSink[node] ? arc : opposite(arc);
        push(used);
        if ((capacities[used] as number) <= 0) saturated.push(node);
      });
      const left = (terminals[root] as number) + (isSink[root] ? flow : -flow);
      terminals[root] = left;
      if (isSink[root] ? left >= 0 : left <= 0) saturated.push(root);
      saturated.forEach(orphan);
    }
  };

  /** Distance of a node to its tree's terminal; UNKNOWN_DISTANCE if an orphan is on the way. */
  const distanceOf = (start: number): number => {
    let steps = 0;
    let node = start;
    for (;;) {
      if (stamps[node] === time) return steps + (distances[node] as number);
      const arc = parents[node] as number;
      steps += 1;
      if (arc === TERMINAL) {
        stamps[node] = time;
        distances[node] = 1;
        return steps;
      }
      if (arc < 0) return UNKNOWN_DISTANCE;
      node = heads[arc] as number;
    }
  };

  const adopt = (node: number) => {
    const sink = isSink[node] as number;
    let [best, least] = [NONE, UNKNOWN_DISTANCE];
    for (let arc = node * 8; arc < node * 8 + 8; arc += 1) {
      const head = heads[arc] as number;
      if (head < 0 || isSink[head] !== sink || parents[head] === NONE || room(arc, sink) <= 0) continue;
      let distance = distanceOf(head);
      if (distance === UNKNOWN_DISTANCE) continue;
      if (distance < least) [best, least] = [arc, distance];
      // The whole way now knows its distance.
      for (let each = head; stamps[each] !== time; each = heads[parents[each] as number] as number) {
        stamps[each] = time;
        distances[each] = distance;
        distance -= 1;
      }
    }
    parents[node] = best;
    if (best !== NONE) {
      stamps[node] = time;
      distances[node] = least + 1;
      return;
    }
    for (let arc = node * 8; arc < node * 8 + 8; arc += 1) {
      const head = heads[arc] as number;
      if (head < 0 || isSink[head] !== sink || parents[head] === NONE) continue;
      if (room(arc, sink) > 0) activate(head);
      const parent = parents[head] as number;
      if (parent >= 0 && heads[parent] === node) orphan(head);
    }
  };

  while (first !== end) {
    const node = ring[first] as number;
    // A node stays active until no way to the other tree leads through it.
    const middle = parents[node] === NONE ? NONE : grow(node);
    if (middle === NONE) {
      first = first === count ? 0 : first + 1;
      isActive[node] = 0;
      continue;
    }
    time += 1;
    augment(middle);
    while (orphans.length > 0) {
      const lost = orphans;
      orphans = [];
      lost.forEach(adopt);
    }
  }
  return Uint8Array.from(parents, (parent, node) => (parent !== NONE && isSink[node] === 0 ? 1 : 0));
}

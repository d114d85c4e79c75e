/** Fits the line of a calibration. */

export interface Observation {
  /** Of the confidence that was stated. */
  logOdds: number;
  isRight: boolean;
}

const MOST_STEPS = 100;
const CLOSE_ENOUGH = 1e-9;
/** A calibration never reverses an order of confidences. */
const LEAST_SLOPE = 0.05;

/**
 * The line through log-odds under which the observations are likeliest, by Newton's method.
 * Source: Platt, "Probabilistic outputs for support vector machines", 1999, with his targets: one right and one wrong reading
 * more than were seen, so that few readings without a mistake promise no certainty.
 */
export function fitLogistic(observations: readonly Observation[]): { slope: number; offset: number } {
  const right = observations.filter(({ isRight }) => isRight).length;
  const wrong = observations.length - right;
  const targets = { right: (right + 1) / (right + 2), wrong: 1 / (wrong + 2) };
  let [slope, offset] = [1, 0];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    // Gradient, and the lower half of the Hessian with a little added to be invertible.
    let [g0, g1, h00, h01, h11] = [0, 0, 1e-6, 0, 1e-6];
    for (const { logOdds, isRight } of observations) {
      const probability = 1 / (1 + Math.exp(-(slope * logOdds + offset)));
      const error = (isRight ? targets.right : targets.wrong) - probability;
      const weight = Math.max(1e-9, probability * (1 - probability));
      g0 += error * logOdds;
      g1 += error;
      h00 += weight * logOdds ** 2;
      h01 += weight * logOdds;
      h11 += weight;
    }
    const determinant = h00 * h11 - h01 ** 2;
    const [down, across] = [(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant];
    slope += down;
    offset += across;
    if (Math.abs(down) + Math.abs(across) < CLOSE_ENOUGH) break;
  }
  if (slope >= LEAST_SLOPE) return { slope, offset };
  // Without any relation only the share of right readings is known.
  return { slope: LEAST_SLOPE, offset: offsetFor(observations, (right + 1) / (right + wrong + 2)) };
}

/** For the least slope: the offset at which the mean confidence is the share of right readings. */
function offsetFor(observations: readonly Observation[], share: number): number {
  let [low, high] = [-20, 20];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const offset = (low + high) / 2;
    const sum = observations.reduce(
      (total, { logOdds }) => total + 1 / (1 + Math.exp(-(LEAST_SLOPE * logOdds + offset))),
      0,
    );
    if (sum / observations.length < share) low = offset;
    else high = offset;
  }
  return (low + high) / 2;
}

/**
 * jest's Node environment, brought closer to Node itself. A test file runs in a realm of its own, with constructors of
 * its own, while Node's modules and native add-ons keep those of the process:
 *
 * - typed arrays are those of the process, because ONNX Runtime refuses a `Float32Array` of another realm;
 * - `instanceof Error` also holds for errors which Node's own modules throw, as it does outside jest.
 *
 * Where tests keep their files in a bucket, each test file has a part of it to itself.
 */
import { randomUUID } from 'node:crypto';
import { TestEnvironment } from 'jest-environment-node';

const SHARED_CONSTRUCTORS = {
  ArrayBuffer,
  BigInt64Array,
  BigUint64Array,
  DataView,
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  SharedArrayBuffer,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
};

const ERRORS = { Error, AggregateError, RangeError, SyntaxError, TypeError };

export default class ProcessRealmEnvironment extends TestEnvironment {
  /** @override */
  async setup() {
    await super.setup();
    Object.assign(this.global, SHARED_CONSTRUCTORS);
    const { env } = this.global.process;
    if (env.STORAGE_BUCKET) env.STORAGE_BUCKET += `/${randomUUID()}`;
    for (const [name, outer] of Object.entries(ERRORS)) recogniseErrorsOfTheProcess(this.global[name], outer);
  }
}

/**
 * @param {Function} inner the realm's own constructor
 * @param {Function} outer its twin in the process
 */
function recogniseErrorsOfTheProcess(inner, outer) {
  const ordinary = Function.prototype[Symbol.hasInstance];
  Object.defineProperty(inner, Symbol.hasInstance, {
    /** @param {unknown} candidate */
    value(candidate) {
      // Subclasses inherit this function; they have no twin.
      return ordinary.call(this, candidate) || (this === inner && ordinary.call(outer, candidate));
    },
  });
}

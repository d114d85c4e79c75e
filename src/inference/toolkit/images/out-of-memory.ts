/** Out-of-memory messages of V8, ONNX Runtime, libvips and its libraries. */
const OUT_OF_MEMORY =
  /out of memory|insufficient memory|memory allocation|allocat\w* .*failed|failed to allocate|allocation failed|bad_alloc|creating thread/i;

/** A library's own limit on a file: libheif calls it a failed allocation too, but the file is at fault. */
const OWN_LIMIT = /security limit/i;

/** Whether an error means that the process ran out of memory, rather than that its input is at fault. */
export function isOutOfMemory({ message }: Error): boolean {
  return OUT_OF_MEMORY.test(message) && !OWN_LIMIT.test(message);
}

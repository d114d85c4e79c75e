/** As V8, ONNX Runtime, libvips and the libraries under it say that no memory is left. */
const OUT_OF_MEMORY =
  /out of memory|insufficient memory|memory allocation|allocat\w* .*failed|failed to allocate|allocation failed|bad_alloc|creating thread/i;

/** A library's own bound on what a file may ask for: libheif calls it a failed allocation too, and it is the file's fault. */
const OWN_LIMIT = /security limit/i;

/** Whether an error says nothing of the work in hand, but that the process came to the bound of its memory. */
export function isOutOfMemory({ message }: Error): boolean {
  return OUT_OF_MEMORY.test(message) && !OWN_LIMIT.test(message);
}

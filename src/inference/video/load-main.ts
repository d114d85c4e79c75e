/** Entry point of a process that loads the package which decodes videos, and ends with 0 where that works. */
import '@napi-rs/webcodecs';

process.exit(0);

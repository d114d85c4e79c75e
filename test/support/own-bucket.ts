/** Runs before each test file. Where tests keep files in a bucket, each file has a part of it to itself. */
import { randomUUID } from 'node:crypto';

const { TEST_STORAGE_BUCKET } = process.env;
if (TEST_STORAGE_BUCKET) process.env.STORAGE_BUCKET = `${TEST_STORAGE_BUCKET}/${randomUUID()}`;

/** Settings that `npm test` passes to the test files. */
export function requiredVariable(
  name: 'TEST_DATABASE_ADMIN_URL' | 'TEST_TEMPLATE_DATABASE' | 'TEST_TEMPORAL_ADDRESS',
): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: run the tests with \`npm test\`, which starts what they need`);
  return value;
}

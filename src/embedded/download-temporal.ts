/**
 * `node download-temporal.ts <directory> <version>`: has the Temporal SDK fetch its development server into a folder.
 *
 * The SDK does so only as part of a start, hence the server that is started and stopped here, and offers no time limit,
 * hence the process apart, which the installer can end.
 */
const [directory, version] = process.argv.slice(2);
if (!directory || !version) throw new Error('usage: download-temporal.ts <directory> <version>');

try {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: directory, version } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  // The SDK repeats each cause in the next; the last part alone names the trouble.
  console.error(message.split(': ').slice(-3).join(': '));
  process.exit(1);
}

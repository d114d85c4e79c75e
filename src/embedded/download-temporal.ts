/**
 * `node download-temporal.ts <directory> <version>`: has the Temporal SDK fetch its development server into a folder.
 *
 * The SDK downloads it only as part of a start, so this starts and stops a server. It has no time limit, so this runs in a
 * process of its own, which the installer can end.
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
  // The SDK repeats each cause in the next message; only the last part names the problem.
  console.error(message.split(': ').slice(-3).join(': '));
  process.exit(1);
}

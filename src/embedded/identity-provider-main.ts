/** The process of the development identity provider. Its settings come from a file, because they contain secrets. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createIdentityProvider, type IdentityProviderSettings } from './identity-provider.ts';

const [path] = process.argv.slice(2);
if (!path) throw new Error('usage: identity-provider-main.ts <file of settings>');
const settings = JSON.parse(readFileSync(path, 'utf8')) as IdentityProviderSettings;

const handle = createIdentityProvider(settings).callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(settings.port, settings.host);

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

/** The call of the playground as programs to copy. */
import { Tabs, Text, Title } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { snippetsOf } from '../../../src/api/pages/snippets.ts';
import type { ListOrganizationEndpointsResponse } from '../../../src/client/management.ts';
import { addressOf } from '../examples.ts';
import { Copyable } from './copy.tsx';
import { type ParameterSchema, parametersOf, type Typed } from './parameters.tsx';

interface CallsProps {
  endpoint: ListOrganizationEndpointsResponse['data'][number];
  schema: ParameterSchema;
  typed: Typed;
  files: readonly File[];
  scenario: string | null;
}

export default function Calls({ endpoint, schema, typed, files, scenario }: CallsProps) {
  const standIn = endpoint.files.media_types.some((type) => type.startsWith('image/')) ? 'picture.jpg' : 'film.mp4';
  const snippets = snippetsOf({
    slug: endpoint.endpoint,
    path: endpoint.path,
    origin: location.origin,
    field: endpoint.files.field,
    takesSeveral: endpoint.files.maximum > 1,
    isUploaded: endpoint.files.maximum > 0 && endpoint.files.direct_media_types.length === 0,
    fileNames: files.length > 0 ? files.map(({ name }) => name) : Array<string>(endpoint.files.minimum).fill(standIn),
    parameters: typedOrNone(schema, typed),
    scenario,
    wait: endpoint.wait,
  });
  return (
    <section aria-label="The same call as a program">
      <Title order={2} size="h4" mb="xs">
        The same call as a program
      </Title>
      <CallNeeds files={files} standIn={files.length === 0 && endpoint.files.minimum > 0 ? standIn : null} />
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm">
          {Object.keys(snippets).map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(snippets).map(([name, text]) => (
          <Tabs.Panel key={name} value={name}>
            <Copyable text={text} label={`The call with ${name}`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </section>
  );
}

/** What somebody who copies the call needs besides. */
function CallNeeds({ files, standIn }: { files: readonly File[]; standIn: string | null }) {
  const downloads = files.flatMap((file) => {
    const url = addressOf(file);
    return url === null ? [] : [{ name: file.name, url }];
  });
  return (
    <Text size="sm" mb="xs">
      <code>API_KEY</code> is the secret of one of your <Link href="/console/keys">API keys</Link>.{' '}
      {standIn !== null && (
        <>
          <code>{standIn}</code> stands for a file of yours.{' '}
        </>
      )}
      {downloads.length > 0 && (
        <>
          Download the example:{' '}
          {downloads.map(({ name, url }) => (
            <Fragment key={name}>
              <a href={url} download={name}>
                {name}
              </a>{' '}
            </Fragment>
          ))}
        </>
      )}
      How to install the <a href="/docs/client">clients</a> for TypeScript and Python, or the{' '}
      <a href="/docs/command-line">command line</a>.
    </Text>
  );
}

/** While a field holds half-typed JSON, the programs are shown without the parameters. */
function typedOrNone(schema: ParameterSchema, typed: Typed): Record<string, unknown> {
  try {
    return parametersOf(schema, typed);
  } catch {
    return {};
  }
}

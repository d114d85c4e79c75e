/** SDK licences and what is left of the quota. */
import { Card, Group, Text } from '@mantine/core';
import type { ListSdkLicensesResponse } from '../../../src/client/management.ts';
import { useGet } from '../api.ts';
import { Empty, PageHead, Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

const time = (text: string) => new Date(text).toLocaleString();

export default function LicencesPage() {
  const licences = useGet<ListSdkLicensesResponse>('/sdk-licenses');
  return (
    <>
      <PageHead title="SDK licences" />
      <Shown of={licences}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No SDKs" />
          ) : (
            <>
              <Text mb="md">
                {data[0]?.consumed} of {data[0]?.max_sdks} SDKs of the paid period are licensed. A program of yours
                issues a licence with a live key: <a href="/docs/sdk-licenses">how</a>.
              </Text>
              <div className="cards">
                {data.map(({ sdk, state, license }) => (
                  <Card withBorder key={sdk}>
                    <Group justify="space-between">
                      <Text fw={600}>{sdk}</Text>
                      <Status value={state} />
                    </Group>
                    <Text size="sm">
                      {license ? `Valid until ${time(license.expires_at)}` : 'No licence was issued.'}
                    </Text>
                  </Card>
                ))}
              </div>
            </>
          )
        }
      </Shown>
    </>
  );
}

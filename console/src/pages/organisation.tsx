/** The organisation, and what the role of the member may do, as the token says it. */
import { Button, Group, List, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import type { Member, Organization } from '../../../src/client/management.ts';
import { request, useChange, useGet, useMay, useMember } from '../api.ts';
import { inWords } from '../format.ts';
import { Failure, PageHead, Shown } from '../parts/states.tsx';

export default function OrganisationPage() {
  const may = useMay();
  const member = useMember();
  const organization = useGet<Organization>('/organization', { enabled: may('organization:read') });
  return (
    <>
      <PageHead title="Organisation" />
      <Stack gap="xl">
        {may('organization:read') && (
          <Shown of={organization}>
            {(answer) => <Name key={answer.name} organization={answer} mayChange={may('organization:write')} />}
          </Shown>
        )}
        <Shown of={member}>{(answer) => <You member={answer} />}</Shown>
      </Stack>
    </>
  );
}

function Name({ organization, mayChange }: { organization: Organization; mayChange: boolean }) {
  const [name, setName] = useState(organization.name);
  const rename = useChange(
    (changed: string) => request('PATCH', '/organization', { body: { name: changed } }),
    ['/organization'],
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(name);
      }}
    >
      <Stack>
        <Group align="end">
          <TextInput
            label="Name"
            value={name}
            maxLength={128}
            required
            readOnly={!mayChange}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            w="min(100%, 24rem)"
          />
          {mayChange && (
            <Button type="submit" variant="default" loading={rename.isPending} disabled={name === organization.name}>
              Rename
            </Button>
          )}
        </Group>
        <Text size="sm" className="mono">
          {organization.id}
        </Text>
        {rename.error && <Failure error={rename.error} />}
      </Stack>
    </form>
  );
}

function You({ member }: { member: Member }) {
  return (
    <section aria-label="You">
      <Title order={2} size="h4" mb="sm">
        You
      </Title>
      <Text>
        Your identity provider says that you are <span className="mono">{member.user_id}</span> with the role{' '}
        <b>{inWords(member.role)}</b>. It also manages the other members and their roles.
      </Text>
      <Text mt="sm">Your role may:</Text>
      <List size="sm">
        {member.permissions.map((permission) => (
          <List.Item key={permission}>{inWords(permission).replace(':', ': ')}</List.Item>
        ))}
      </List>
    </section>
  );
}

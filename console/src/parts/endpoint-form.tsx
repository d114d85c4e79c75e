/** What a member says of a webhook endpoint, when it is made and when it is changed. */
import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failure } from './states.tsx';

export interface TypedEndpoint {
  url: string;
  description: string;
  events: string[];
}

export const EVENTS = ['job.succeeded', 'job.partial', 'job.failed'];

interface EndpointFormProps {
  typed: TypedEndpoint;
  action: string;
  isBusy: boolean;
  error: Error | null;
  onChange: (changed: Partial<TypedEndpoint>) => void;
  onSubmit: () => void;
  /** Further fields. */
  children?: ReactNode;
}

export function EndpointForm({ typed, action, isBusy, error, onChange, onSubmit, children }: EndpointFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack>
        <TextInput
          label="Address"
          type="url"
          required
          data-autofocus
          placeholder="https://"
          value={typed.url}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
        />
        <TextInput
          label="Description"
          maxLength={255}
          value={typed.description}
          onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
        />
        {children}
        <Checkbox.Group label="Events" value={typed.events} onChange={(events) => onChange({ events })}>
          <Group mt="xs">
            {EVENTS.map((name) => (
              <Checkbox key={name} value={name} label={name} />
            ))}
          </Group>
        </Checkbox.Group>
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={typed.events.length === 0}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** What a page shows while it has nothing to show. */
import { Alert, Anchor, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { ApiError } from '../api.ts';

export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <Alert color="red" title="That did not work" role="alert" variant="light">
      <Stack gap="xs" align="start">
        <Text size="sm">{error.message}</Text>
        {error instanceof ApiError && (
          <Text size="sm">
            <Anchor href={`/docs/errors/${error.code}`} target="_blank" underline="always" inherit>
              {error.code}
            </Anchor>
            , request <span className="mono">{error.requestId}</span>
          </Text>
        )}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <Stack gap="xs" aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <Skeleton key={index} height={32} />
      ))}
    </Stack>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" ta="center">
      <Text fw={600}>{title}</Text>
      {children && (
        <Text c="dimmed" component="div">
          {children}
        </Text>
      )}
    </Stack>
  );
}

/** The answer of a read, or what stands in for it. */
export function Shown<Answer>({
  of: query,
  children,
}: {
  of: Pick<UseQueryResult<Answer>, 'data' | 'error' | 'refetch'>;
  children: (answer: Answer) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading />;
}

export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – Vehicle Inference Console`;
  }, [title]);
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2">
        {title}
      </Title>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  );
}

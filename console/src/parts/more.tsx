import { Button, Group } from '@mantine/core';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

export function More({ pages }: { pages: Pages }) {
  return pages.hasNextPage ? (
    <Group justify="center" mt="md">
      <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show older
      </Button>
    </Group>
  ) : null;
}

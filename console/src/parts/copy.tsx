import { Button, CopyButton, Group, Stack } from '@mantine/core';

/** Text to take along, as it is. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <Stack gap="xs">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="code" aria-label={label} tabIndex={0}>
        <code>{text}</code>
      </section>
      <Group>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Stack>
  );
}

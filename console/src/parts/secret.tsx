import { Alert, Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core';

/** A secret that the service shows once. It is in no cache and no storage: closing the dialogue forgets it. */
export function SecretDialogue({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string | null;
  onClose: () => void;
}) {
  return (
    <Modal opened={secret !== null} onClose={onClose} title={title} size="lg" closeOnClickOutside={false} centered>
      {secret !== null && (
        <Stack>
          <Alert color="yellow" title="This is the only time you see it">
            Keep it where your programs read their secrets. Nobody can show it again; a lost one is replaced by a
            rotation.
          </Alert>
          <Code block className="mono secret" data-testid="secret">
            {secret}
          </Code>
          <Group justify="space-between">
            <CopyButton value={secret}>
              {({ copied, copy }) => (
                <Button variant="default" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
            <Button onClick={onClose}>I have kept it</Button>
          </Group>
          <Text className="visually-hidden" role="status">
            The secret is shown.
          </Text>
        </Stack>
      )}
    </Modal>
  );
}

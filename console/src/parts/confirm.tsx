import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { Failure } from './states.tsx';

interface ConfirmProps {
  opened: boolean;
  title: string;
  /** What happens, and whether it can be undone. */
  text: string;
  action: string;
  isBusy: boolean;
  error: Error | null;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before what cannot be undone. */
export function Confirm({ opened, title, text, action, isBusy, error, onConfirm, onClose }: ConfirmProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered>
      <Stack>
        <Text>{text}</Text>
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Leave it
          </Button>
          <Button color="red" loading={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

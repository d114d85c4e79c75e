/** The files of a request: dropped, chosen, photographed, or the project's examples. */
import { Button, CloseButton, FileButton, Group, Stack, Text } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import type { ListOrganizationEndpointsResponse } from '../../../src/client/management.ts';
import { type Example, fetchExample } from '../examples.ts';
import { formatBytes } from '../format.ts';

export type FileInput = ListOrganizationEndpointsResponse['data'][number]['files'];

interface FileDropProps {
  input: FileInput;
  files: readonly File[];
  examples: readonly Example[];
  onChange: (files: File[]) => void;
}

/** Largest file of an upload, by the first word of its media type. */
const UPLOAD_BYTES: Readonly<Record<string, number>> = { image: 50 * 1024 ** 2, video: 2 * 1024 ** 3 };

export function FileDrop({ input, files, examples, onChange }: FileDropProps) {
  const [isOver, setIsOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { minimum, maximum, media_types: types } = input;

  const add = (added: readonly File[]) => {
    const refused = added.map((file) => problemOf(file, input)).find((text) => text !== null) ?? null;
    const accepted = added.filter((file) => problemOf(file, input) === null);
    const all = maximum === 1 ? accepted.slice(-1) : [...files, ...accepted];
    setProblem(refused ?? (all.length > maximum ? `This endpoint takes at most ${maximum} files.` : null));
    if (accepted.length > 0) onChange(all.slice(0, maximum));
  };

  const addExamples = async () => {
    const fetched = await Promise.all(examples.slice(0, maximum).map(fetchExample));
    setProblem(null);
    onChange(fetched);
  };

  return (
    <Stack gap="xs">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the buttons inside are the first */}
      <div
        className="drop"
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setIsOver(false);
          add([...event.dataTransfer.files]);
        }}
      >
        <Text mb="xs">
          Drop {maximum === 1 ? 'a file' : `${minimum === maximum ? minimum : `${minimum} to ${maximum}`} files`} here
        </Text>
        <Group justify="center" gap="xs">
          <FileButton multiple={maximum > 1} accept={types.join(',')} onChange={(chosen) => add(listOf(chosen))}>
            {(props) => (
              <Button variant="default" {...props}>
                Choose
              </Button>
            )}
          </FileButton>
          {types.some((type) => type.startsWith('image/')) && (
            <FileButton accept="image/*" capture="environment" onChange={(chosen) => add(listOf(chosen))}>
              {(props) => (
                <Button variant="default" hiddenFrom="md" {...props}>
                  Photograph
                </Button>
              )}
            </FileButton>
          )}
          {examples.length >= Math.max(minimum, 1) && (
            <Button
              variant="default"
              onClick={() => void addExamples().catch((error: Error) => setProblem(error.message))}
            >
              Use {examples.length > 1 && maximum > 1 ? 'examples' : 'an example'}
            </Button>
          )}
        </Group>
      </div>
      {problem !== null && (
        <Text c="red" role="alert" size="sm">
          {problem}
        </Text>
      )}
      <Group gap="sm">
        {files.map((file) => (
          <Thumbnail key={keyOf(file)} file={file} onRemove={() => onChange(files.filter((other) => other !== file))} />
        ))}
      </Group>
    </Stack>
  );
}

function Thumbnail({ file, onRemove }: { file: File; onRemove: () => void }) {
  const url = useObjectUrl(file);
  return (
    <Stack gap={4}>
      {file.type.startsWith('image/') && url !== null && <img className="thumbnail" src={url} alt={file.name} />}
      <Group gap={4} wrap="nowrap">
        <Text size="sm">
          {file.name}, {formatBytes(file.size)}
        </Text>
        <CloseButton size="sm" aria-label={`Remove ${file.name}`} onClick={onRemove} />
      </Group>
    </Stack>
  );
}

/** An address of a file for pictures of this page, until the component goes. */
export function useObjectUrl(file: File): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

/** Addresses of several files, in order. */
export function useObjectUrls(files: readonly File[]): string[] {
  const urls = useMemo(() => files.map((file) => URL.createObjectURL(file)), [files]);
  useEffect(() => {
    return () => {
      for (const url of urls) URL.revokeObjectURL(url);
    };
  }, [urls]);
  return urls;
}

/** Two equal files may be chosen, so names are no keys. */
const keys = new WeakMap<File, string>();

function keyOf(file: File): string {
  const key = keys.get(file) ?? crypto.randomUUID();
  keys.set(file, key);
  return key;
}

const listOf = (chosen: File | File[] | null) => (chosen === null ? [] : Array.isArray(chosen) ? chosen : [chosen]);

/** Of files chosen for another endpoint, those that this one takes. */
export const keptFor = (input: FileInput, files: readonly File[]): File[] =>
  files.filter((file) => problemOf(file, input) === null).slice(0, input.maximum);

/** What the service would say, said before anything is sent. */
function problemOf({ name, type, size }: File, { media_types: types }: FileInput): string | null {
  if (!types.includes(type))
    return `${name} is ${type || 'of an unknown type'}; this endpoint takes ${types.join(', ')}.`;
  const limit = UPLOAD_BYTES[type.split('/')[0] ?? ''] ?? 0;
  if (size > limit)
    return `${name} has ${formatBytes(size)}; the largest that the service takes has ${formatBytes(limit)}.`;
  return null;
}

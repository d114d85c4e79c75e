/** A picture with what the result found in it. */
import { Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useId, useState } from 'react';
import {
  colourOf,
  describeShape,
  type FileOfResult,
  findPlaces,
  type Shape,
} from '../../../src/api/pages/find-shapes.ts';
import { capitalised, formatTime } from '../format.ts';
import { ResultFacts } from './facts.tsx';

export interface Picture {
  url: string;
  mediaType: string;
}

const MASK_NAME = /mask|matte/;

export function ResultPictures({ pictures, result }: { pictures: readonly Picture[]; result: unknown }) {
  const [chosen, setChosen] = useState(0);
  const { shapes, files } = findPlaces(result);
  const shown = pictures[chosen];
  const masks = files.filter(({ name, media_type: type }) => MASK_NAME.test(name) && type.startsWith('image/'));
  const made = files.filter((file) => !masks.includes(file));
  const ofPicture = (of: { imageIndex: number; on: string | null }) => of.on === null && of.imageIndex === chosen;
  return (
    <Stack>
      {pictures.length > 1 && (
        <SegmentedControl
          aria-label="Picture"
          value={String(chosen)}
          onChange={(value) => setChosen(Number(value))}
          data={pictures.map((_, index) => ({ value: String(index), label: `Picture ${index + 1}` }))}
        />
      )}
      <div className="result">
        {shown && (
          <Overlay
            key={shown.url}
            picture={shown}
            alt="What the job looked at"
            shapes={shapes.filter(ofPicture)}
            masks={masks.filter(ofPicture)}
          />
        )}
        <ResultFacts result={result} />
      </div>
      {made.length > 0 && <Made files={made} shapes={shapes} masks={masks} />}
    </Stack>
  );
}

interface OverlayProps {
  picture: Picture;
  alt: string;
  shapes: readonly Shape[];
  masks: readonly FileOfResult[];
}

export function Overlay({ picture, alt, shapes, masks }: OverlayProps) {
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const [isGone, setIsGone] = useState(false);
  const [selected, setSelected] = useState<number | null>(null);
  const [showsShapes, setShowsShapes] = useState(true);
  const [showsMasks, setShowsMasks] = useState(true);
  const filter = useId();
  if (picture.mediaType.startsWith('video/')) {
    // biome-ignore lint/a11y/useMediaCaption: pictures of a vehicle, without speech
    return <video className="thumbnail" src={picture.url} controls />;
  }
  if (isGone) return <Text c="dimmed">The picture is no longer stored, or the browser cannot show it.</Text>;
  return (
    <Stack gap="xs">
      <div className="overlay">
        <img
          src={picture.url}
          alt={alt}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
          onError={() => setIsGone(true)}
        />
        {size && (
          <svg
            viewBox={`0 0 ${size.width} ${size.height}`}
            role="img"
            aria-label="What was found"
            data-testid="overlay"
          >
            <LabelColours id={filter} />
            {showsMasks &&
              masks.map(({ path, url }) => (
                <image key={path} href={url} {...size} opacity={0.5} filter={`url(#${filter})`} data-kind="mask" />
              ))}
            {showsShapes &&
              shapes.map((shape) => (
                <ShapeOnPicture
                  key={shape.id}
                  shape={shape}
                  size={size}
                  isSelected={selected === shape.group}
                  onSelect={() => setSelected(selected === shape.group ? null : shape.group)}
                />
              ))}
          </svg>
        )}
      </div>
      <Group gap="md">
        {shapes.length > 0 && (
          <Checkbox
            label={`${shapes.length} ${shapes.length === 1 ? 'shape' : 'shapes'}`}
            checked={showsShapes}
            onChange={({ currentTarget }) => setShowsShapes(currentTarget.checked)}
          />
        )}
        {masks.length > 0 && (
          <Checkbox
            label="mask"
            checked={showsMasks}
            onChange={({ currentTarget }) => setShowsMasks(currentTarget.checked)}
          />
        )}
        {shapes.length === 0 && masks.length === 0 && <Text c="dimmed">The result marks nothing in this picture.</Text>}
      </Group>
      {showsShapes && <Legend shapes={shapes} selected={selected} onSelect={setSelected} />}
    </Stack>
  );
}

interface ShapeProps {
  shape: Shape;
  size: { width: number; height: number };
  isSelected: boolean;
  onSelect: () => void;
}

function ShapeOnPicture({ shape, size, isSelected, onSelect }: ShapeProps) {
  const colour = colourOf(shape.group);
  const points = shape.isNormalized
    ? shape.points.map(({ x, y }) => ({ x: x * size.width, y: y * size.height }))
    : shape.points;
  const drawn = {
    className: 'shape',
    stroke: colour,
    fill: colour,
    'data-kind': shape.kind,
    'data-selected': isSelected || undefined,
    onClick: onSelect,
  };
  const [first] = points;
  const title = <title>{describeShape(shape)}</title>;
  if (shape.kind === 'point' && first) {
    return (
      <circle cx={first.x} cy={first.y} r={Math.max(size.width, size.height) / 80} {...drawn}>
        {title}
      </circle>
    );
  }
  return (
    <polygon points={points.map(({ x, y }) => `${x},${y}`).join(' ')} {...drawn}>
      {title}
    </polygon>
  );
}

/** The same as text: for readers who see no colours, and to find a small shape. */
function Legend({
  shapes,
  selected,
  onSelect,
}: {
  shapes: readonly Shape[];
  selected: number | null;
  onSelect: (group: number | null) => void;
}) {
  const ofGroups = [...new Map(shapes.map((shape) => [shape.group, shape])).values()];
  return (
    <ul className="legends" aria-label="Found">
      {ofGroups.map((shape) => (
        <li key={shape.group}>
          <button
            type="button"
            className="legend"
            aria-pressed={selected === shape.group}
            onClick={() => onSelect(selected === shape.group ? null : shape.group)}
          >
            <svg width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="3" fill={colourOf(shape.group)} />
            </svg>
            {describeShape(shape)}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Gives each value of a mask a colour, and makes 0 transparent. */
function LabelColours({ id }: { id: string }) {
  const channel = (offset: number) =>
    Array.from({ length: 256 }, (_, value) => Number.parseInt(colourOf(value).slice(offset, offset + 2), 16) / 255)
      .map((share) => share.toFixed(3))
      .join(' ');
  return (
    <filter id={id} colorInterpolationFilters="sRGB">
      <feColorMatrix type="matrix" values="1 0 0 0 0  1 0 0 0 0  1 0 0 0 0  255 0 0 0 0" />
      <feComponentTransfer>
        <feFuncR type="discrete" tableValues={channel(1)} />
        <feFuncG type="discrete" tableValues={channel(3)} />
        <feFuncB type="discrete" tableValues={channel(5)} />
      </feComponentTransfer>
    </filter>
  );
}

/** The files of the result, each picture with what the result says of it. */
function Made({ files, shapes, masks }: { files: readonly FileOfResult[] } & Pick<OverlayProps, 'shapes' | 'masks'>) {
  return (
    <div className="cards">
      {files.map((file) => (
        <Stack key={file.path} gap={4}>
          <MadeFile
            file={file}
            shapes={shapes.filter(({ on }) => on === file.path)}
            masks={masks.filter(({ on }) => on === file.path)}
          />
          <Text size="sm">
            <a href={file.url} target="_blank" rel="noreferrer">
              {capitalised(file.label)}
            </a>{' '}
            <Text span c="dimmed" size="sm">
              {file.media_type}, until {formatTime(file.expires_at)}
            </Text>
          </Text>
        </Stack>
      ))}
    </div>
  );
}

function MadeFile({ file, shapes, masks }: { file: FileOfResult } & Pick<OverlayProps, 'shapes' | 'masks'>) {
  const { url, media_type: mediaType, label } = file;
  if (shapes.length > 0 || masks.length > 0) {
    return <Overlay picture={{ url, mediaType }} alt={label} shapes={shapes} masks={masks} />;
  }
  if (mediaType.startsWith('image/')) return <img className="made" src={url} alt={label} loading="lazy" />;
  if (!mediaType.startsWith('video/')) return null;
  // biome-ignore lint/a11y/useMediaCaption: a walk around a vehicle, without sound
  return <video className="made" src={url} controls />;
}

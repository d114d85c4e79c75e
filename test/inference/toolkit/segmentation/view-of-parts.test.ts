import { expect, test } from 'vitest';
import { partOfLabel } from '../../../../src/inference/toolkit/detection/part-labels.ts';
import { partsInView, viewOfParts } from '../../../../src/inference/toolkit/segmentation/view-of-parts.ts';

const seen = (areas: Record<string, number>, confidence = 0.9) =>
  viewOfParts(Object.entries(areas).map(([label, area]) => ({ ...partOfLabel(label), area, confidence })));

test.each([
  ['front', { hood: 50, front_bumper: 60, 'headlight.left': 8, 'headlight.right': 8, windshield: 30 }],
  ['rear', { trunk_lid: 60, rear_bumper: 50, 'taillight.left': 8, rear_windshield: 30 }],
  ['left', { 'front_door.left': 60, 'rear_door.left': 50, front_bumper: 6, 'headlight.left': 2 }],
  ['right', { 'front_door.right': 60, 'rear_door.right': 50 }],
  ['front_left', { hood: 30, front_bumper: 40, 'front_door.left': 30, 'rear_door.left': 20 }],
  ['front_right', { hood: 30, front_bumper: 40, 'front_door.right': 30 }],
  ['rear_left', { trunk_lid: 30, rear_bumper: 30, 'rear_door.left': 30, 'front_door.left': 25 }],
  ['rear_right', { rear_bumper: 30, 'taillight.right': 5, 'rear_door.right': 30 }],
])('%s follows from the faces that the parts belong to', (view, areas) => {
  expect(seen(areas)).toMatchObject({ value: view });
});

test('a sliver of the other side or face does not change the view', () => {
  expect(seen({ hood: 50, front_bumper: 60, 'front_door.left': 5 })?.value).toBe('front');
  expect(seen({ 'front_door.left': 90, 'front_door.right': 2, front_bumper: 5 })?.value).toBe('left');
  expect(seen({ hood: 50, trunk_lid: 3, front_bumper: 60 })?.value).toBe('front');
});

test('the bed of a pickup beside its doors says nothing of its rear', () => {
  expect(seen({ 'front_door.right': 60, trunk_lid: 60, front_bumper: 8 })?.value).toBe('right');
  expect(seen({ trunk_lid: 60 })?.value).toBe('rear');
});

test('parts that show no direction give no view', () => {
  expect(seen({})).toBeNull();
  expect(seen({ windshield: 30, 'mirror.left': 4, 'front_wheel.left': 20 })).toBeNull();
});

test('the confidence is the mean of the deciding parts by area', () => {
  const front = [
    { ...partOfLabel('hood'), area: 30, confidence: 1 },
    { ...partOfLabel('front_bumper'), area: 10, confidence: 0.6 },
    { ...partOfLabel('front_door.left'), area: 1, confidence: 0.1 },
  ];
  expect(viewOfParts(front)?.confidence).toBeCloseTo(0.9);
});

test.each([
  ['front_left', ['hood', 'front_bumper', 'front_door']],
  ['rear', ['trunk_lid', 'taillight', 'front_door']],
  ['left', ['hood', 'front_bumper', 'trunk_lid', 'taillight', 'front_door']],
  [null, ['hood', 'front_bumper', 'trunk_lid', 'taillight', 'front_door']],
])('a picture from %s shows no part of the face that is turned away', (view, expected) => {
  const parts = ['hood', 'front_bumper', 'trunk_lid', 'taillight.left', 'front_door.left'].map(partOfLabel);
  const shown = partsInView(parts, view === null ? null : { value: view });
  expect(shown.map(({ part }) => part)).toEqual(expected);
});

import { fileOf, installModel } from './exported-models.ts';

/**
 * Installs tiny networks, which distinguish colours, for everything that `inspections` and `video.onboard` are made of. A
 * picture that is mostly red is a front view, green a left one, blue a rear one.
 */
export function installBundleModels(models: string): void {
  const install = (task: string, files: Record<string, object>, network: string, uses = {}) =>
    installModel(
      models,
      {
        model: task,
        release: '2026-12-01',
        task,
        description: 'Tells colours apart.',
        license: 'Apache-2.0',
        files,
        ...(Object.keys(uses).length > 0 && { uses }),
        warmUp: Object.fromEntries(Object.keys(files).map((file) => [file, { images: [1, 3, 64, 64] }])),
      },
      network,
    );
  const classifier = (labels: (string | null)[]) =>
    fileOf('classification', {
      outputs: { logits: { shape: [1, 4] } },
      decoder: { name: 'softmax-classification', output: 'logits', score: 0.3 },
      labels,
    });
  const outlines = (labels: (string | null)[]) =>
    fileOf('semantic-segmentation', {
      outputs: { logits: { shape: [1, 4, 8, 8] } },
      decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
      labels,
    });
  const boxes = (labels: (string | null)[]) => fileOf('yolo-detection', { labels });

  install('view-classification', { view: classifier([null, 'front', 'left', 'rear']) }, 'classification');
  install('vehicle-segmentation', { detector: outlines([null, 'car', 'car', 'car']) }, 'semantic-segmentation');
  install('damage-segmentation', { detector: outlines([null, 'scratch', null, null]) }, 'semantic-segmentation');
  install('part-detection', { detector: boxes(['front_door', 'hood', 'trunk_lid']) }, 'yolo-detection');
  install(
    'damage-grading',
    {
      severity: classifier([null, 'moderate', 'minor', 'severe']),
      method: classifier([null, 'repair_and_paint', 'polish', 'replace']),
      paint: classifier([null, 'yes', 'no', 'no']),
      safety: classifier([null, 'no', 'yes', 'yes']),
    },
    'classification',
    { damages: 'damage-segmentation' },
  );
}

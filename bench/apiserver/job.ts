// The stored object: a Job of a realistic size.

import { podTemplate } from '../jobParts.ts';

export const job = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name,
    labels: { app: 'bench', tier: 'batch' },
    annotations: { 'example.com/why': 'a realistic size' },
  },
  spec: {
    parallelism: 1,
    ttlSecondsAfterFinished: 3600,
    template: podTemplate({ app: 'bench' }),
  },
});

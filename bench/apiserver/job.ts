// The stored object: a Job of a realistic size.

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
    template: {
      metadata: { labels: { app: 'bench' } },
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'main',
            image: 'registry.example.com/team/report:1.2.3',
            args: ['--from', 'yesterday', '--to', 'today'],
            env: [{ name: 'MODE', value: 'fast' }],
            resources: { requests: { cpu: '100m', memory: '64Mi' } },
          },
        ],
      },
    },
  },
});

// Parts of the Jobs of benchmarks: a Pod template of a realistic size, and the status of a completed Job.

export const podTemplate = (labels: Readonly<Record<string, string>>) => ({
  metadata: { labels },
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
});

/** As the Job controller leaves it, and as the API server's validation requires. */
export function completedStatus(startTime: string, completionTime: string) {
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: completionTime,
    lastTransitionTime: completionTime,
    reason: 'CompletionsReached',
  });
  return {
    startTime,
    completionTime,
    succeeded: 1,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
}

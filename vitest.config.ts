import { defineConfig } from 'vitest/config';

// The suffix of a file says which round it belongs to: `.test.ts` is the fast sample (npm test),
// `.check.ts` guards structure and docs, `.wire.ts` replays recorded answers, `.soak.ts` is long,
// `.kube.ts` needs a real Kubernetes.
const round = (name: string, suffix: string, testTimeout: number) => ({
  extends: true as const,
  test: {
    name,
    include: [
      `{packages,test,examples,scripts,bench}/**/*.${suffix}.ts`,
      ...(name === 'check' ? ['test/architecture.test.ts'] : []),
    ],
    testTimeout,
    hookTimeout: testTimeout,
    ...(name === 'fast' || name === 'check' ? {} : { fileParallelism: false }),
  },
});

export default defineConfig({
  test: {
    isolate: false,
    pool: 'threads',
    // Unset it is one less than there are cores: half of a small machine would stand idle.
    maxWorkers: '100%',
    projects: [
      round('fast', 'test', 60_000),
      round('check', 'check', 120_000),
      round('wire', 'wire', 120_000),
      round('soak', 'soak', 900_000),
      round('kube', 'kube', 900_000),
    ],
  },
});

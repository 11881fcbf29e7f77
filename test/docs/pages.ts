// Which pages have commands that are run, where, and with which prerequisites.

export interface Page {
  readonly page: string;
  readonly where: 'desk' | 'cluster';
  /** Prerequisites of the page. */
  readonly given?: readonly string[];
}

/** A checkpoint to read. */
const CAPTURED = [
  'lapse up --data .lapse --no-examples',
  'kubectl apply --filename examples/06-manifest-checkpoint/checkpoint.yaml',
  'kubectl wait --for=condition=Ready mcr/before-the-change --timeout=60s',
];
/** A file for a ConfigMap. */
const CA_FILE = 'echo certificate > ca.crt';
const example = (name: string): Page => ({ page: `examples/${name}/README.md`, where: 'desk' });

/** Pages whose commands are run by another test, and by which. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/tasks/write-a-controller.md': 'runtime.check.ts, with its programs',
  'test/README.md': 'fuzzInputs.soak.ts runs the fuzzer; a mutation round takes minutes and is run by hand',
  'examples/11-test-your-controller/README.md': 'its command is a test of the fast round',
};

export const PAGES: readonly Page[] = [
  { page: 'docs/getting-started.md', where: 'desk' },
  { page: 'docs/tasks/explain.md', where: 'desk' },
  { page: 'docs/tasks/extend.md', where: 'desk' },
  { page: 'docs/tasks/simulate.md', where: 'desk' },
  { page: 'docs/tasks/volumes.md', where: 'desk' },
  { page: 'docs/tasks/limits.md', where: 'desk' },
  { page: 'docs/tasks/undo.md', where: 'desk' },
  { page: 'docs/tasks/checkpoints.md', where: 'desk', given: CAPTURED },
  ...[
    '00-first-controller',
    '01-job-ttl',
    '02-pod-ttl',
    '03-tekton-runs',
    '04-volume-capture',
    '05-volume-restore',
    '06-manifest-checkpoint',
    '07-storage-pool',
    '08-cleaner-knative',
    '09-cleaner-helm',
  ].map(example),
  { ...example('10-dry-run-first'), where: 'cluster' },
  { page: 'docs/tasks/doctor.md', where: 'cluster' },
  { page: 'docs/tasks/plan.md', where: 'cluster', given: ['cp "$KUBECONFIG" prod.yaml'] },
  { page: 'README.md', where: 'cluster' },
  { page: 'docs/operations/security.md', where: 'cluster' },
  { page: 'docs/operations/install.md', where: 'cluster', given: [CA_FILE] },
];

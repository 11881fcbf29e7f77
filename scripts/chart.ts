// node scripts/chart.ts: writes the generated parts of config/chart: the version, the requirements of each family, the
// CRDs, the dashboard, and the schema of feature gates and configuration in the values. chart.check.ts fails if they
// are out of date.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VERSION } from '@lapse/base/version';
import { OLDEST_MINOR } from 'lapse/cli/doctor/reach';
import { choicesOf } from 'lapse/cli/manifests/choices';
import { needsOf } from 'lapse/cli/manifests/needs';
import { yamlText } from 'lapse/cli/yaml';
import { FAMILIES } from 'lapse/controllers/registry';
import { kindsOf } from 'lapse/manager/crds';
import { buildDashboard } from './chart/dashboard.ts';
import { fillValuesSchema } from './chart/valuesSchema.ts';

export const CHART = join(import.meta.dirname, '../config/chart');
const CRDS = 'files/crds';

const yaml = (value: unknown): string => yamlText(value, { indentSeq: false });

function chartYaml(): string {
  return yaml({
    apiVersion: 'v2',
    name: 'lapse',
    description: 'Makes everything temporary in a Kubernetes cluster end on time, and shows you first.',
    type: 'application',
    version: VERSION,
    appVersion: VERSION,
    kubeVersion: `>=1.${OLDEST_MINOR}.0-0`,
  });
}

/** Helm would delete a CRD with all of its objects, so the CRDs of Lapse are kept. */
const kept = (crd: object & { metadata: object }) => ({
  ...crd,
  metadata: { ...crd.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } },
});

/** The one file of which only parts are generated. */
function valuesSchema(): string {
  const written = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  return `${JSON.stringify(fillValuesSchema(written, FAMILIES), null, 2)}\n`;
}

/** Every generated file by its path in the chart. */
export function chartFiles(): Map<string, string> {
  const families = FAMILIES.map((family) => ({
    ...needsOf(family, FAMILIES),
    choices: choicesOf(family, FAMILIES),
  }));
  const head = '# Written by `node scripts/chart.ts` from what the families declare.\n';
  return new Map([
    ['Chart.yaml', chartYaml()],
    ['files/families.yaml', `${head}${yaml({ families })}`],
    ['values.schema.json', valuesSchema()],
    ['files/dashboard.json', `${JSON.stringify(buildDashboard(), null, 1)}\n`],
    ...kindsOf(FAMILIES).map(({ crd }): [string, string] => [
      `${CRDS}/${crd.metadata.name}.yaml`,
      yaml(kept(crd)),
    ]),
  ]);
}

/** Existing CRDs, by path; one that belongs to no family any more is a leftover. */
export const definitionFiles = (chart: string): string[] =>
  readdirSync(join(chart, CRDS)).map((name) => `${CRDS}/${name}`);

if (import.meta.main) {
  rmSync(join(CHART, CRDS), { recursive: true, force: true });
  for (const [path, text] of chartFiles()) {
    mkdirSync(dirname(join(CHART, path)), { recursive: true });
    writeFileSync(join(CHART, path), text);
  }
}

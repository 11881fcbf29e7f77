// All families with their roles and their cases, one process for the rights that all of them need, and the read API.
// Each suite covers its own rights; together they cover all rights that the chart grants.

import { parseTime, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Lease } from '@lapse/runtime/election/lease';
import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import type { Installation } from 'lapse/cli/manifests/installation';
import { buildWebhooks } from 'lapse/cli/manifests/webhooks';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import { expect } from 'vitest';
import { cleaners, storagePools, ttlAfterFinished, ttlPolicy } from './deletionCases.ts';
import { impersonatingInstallationOf, installationOf } from './installation.ts';
import { OPTION_CASES, optionRules, withOptionRules } from './optionCases.ts';
import { readApiObjects, runReadApi } from './readApi.ts';
import {
  expectSeries,
  manifestCapture,
  objectKeeper,
  requestTtl,
  volumeCapture,
  volumeRestore,
} from './requestCases.ts';
import { type OneRight, rightsIn } from './rights.ts';
import { grantOf, type RightsCase, type RightsResult } from './rightsCase.ts';
import { openWorld } from './world.ts';

const CASES: Readonly<Record<string, RightsCase>> = {
  'ttl-after-finished': ttlAfterFinished,
  'ttl-policy': ttlPolicy,
  cleaner: cleaners,
  'storage-pool': storagePools,
  'volume-capture': volumeCapture,
  'volume-restore': volumeRestore,
  'manifest-capture': manifestCapture,
  'object-keeper': objectKeeper,
  'request-ttl': requestTtl,
};

/** Events that repeat, the lease, and a certificate that is created, registered with the API server, and renewed. */
const processCase: RightsCase = {
  configuration: { restore: { executor: 'External' } },
  async run(world) {
    await expectSeries(world);
    const { spec } = (await world.userClient.get<Lease>(`${world.installation.namespace}/lease/lapse`))!;
    expect(world.clock.now() - parseTime(spec!.renewTime!)).toBeLessThan(seconds(15));
    const hooks = buildWebhooks(world.installation).filter(({ kind }) => kind !== 'Service');
    await world.apply(hooks);
    const first = await world.process.certify(['one.example.com']);
    // Under another name than before, as after an upgrade, so the certificate must be a new one.
    const second = await world.process.certify(['two.example.com']);
    expect(second.current().cert).not.toBe(first.current().cert);
    for (const { kind, metadata } of hooks) {
      const told = JSON.stringify(await world.userClient.get(`${kind.toLowerCase()}/${metadata.name}`));
      expect(told).toContain(Buffer.from(second.caBundle()).toString('base64'));
    }
    first.close();
    second.close();
  },
};

export interface RightsSuite {
  readonly name: string;
  /** The account and its roles. */
  readonly access: readonly KubeObject[];
  /** The rights that it covers. */
  readonly rights: readonly OneRight[];
  /** The case, with these roles. */
  run(access: readonly KubeObject[]): Promise<RightsResult>;
}

/** The rights of families in the namespace of the process: the author key, and the trash. */
const OF_FAMILIES = /^(create|delete|list|watch) secrets$|^get secrets lapse-author-key$/;

function rightsSuiteOf(name: string, families: readonly string[], rightsCase: RightsCase): RightsSuite {
  const installation = impersonatingInstallationOf(
    ...FAMILIES.filter((family) => families.includes(family.name)),
  );
  const access = buildInstallationAccess(installation);
  const own = [name, ...(name === 'cleaner' ? ['impersonation'] : [])].map(
    (part) => `${installation.name}:${part}`,
  );
  const isOwn = ({ text, at: [object] }: OneRight) => {
    const { kind, metadata } = access[object]!;
    if (kind === 'ClusterRole') return own.includes(metadata.name ?? '');
    return OF_FAMILIES.test(text) === (name !== 'process');
  };
  const rights = rightsIn(access).filter(isOwn);
  return { name, access, rights, run: (given) => run(installation, rightsCase, given) };
}

/** A family with another configuration. It covers the rights that this configuration adds. */
function optionRightsSuiteOf(family: Family): RightsSuite {
  const { name, configuration } = { name: family.name, ...OPTION_CASES[family.name]! };
  const installation = installationOf(family);
  const access = withOptionRules(buildInstallationAccess(installation), optionRules(family, FAMILIES));
  const isOptional = ({ at: [object] }: OneRight) => access[object]!.metadata.name === 'lapse:options';
  return {
    name: `${name} with ${JSON.stringify(configuration)}`,
    access,
    rights: rightsIn(access).filter(isOptional),
    run: (given) => run(installation, OPTION_CASES[name]!, given),
  };
}

export const familyRightsSuite = (name: string): RightsSuite =>
  rightsSuiteOf(name, [name], CASES[name] ?? { run: async () => {} });

const readApiRightsSuite = (access = readApiObjects()): RightsSuite => ({
  name: 'read-api',
  access,
  rights: rightsIn(access),
  run: runReadApi,
});

export const allRightsSuites = (): RightsSuite[] => [
  ...FAMILIES.map(({ name }) => familyRightsSuite(name)),
  rightsSuiteOf('process', ['cleaner', 'volume-restore'], processCase),
  ...FAMILIES.filter(({ name }) => OPTION_CASES[name] !== undefined).map(optionRightsSuiteOf),
  readApiRightsSuite(),
];

async function run(
  installation: Installation,
  rightsCase: RightsCase,
  access: readonly KubeObject[],
): Promise<RightsResult> {
  const { kinds = [], simulatedControllers = [], granted = [], configuration = {} } = rightsCase;
  const grants = granted.length === 0 ? [] : grantOf(granted, installation);
  const given = [...access, ...grants];
  const world = await openWorld({ installation, access: given, kinds, simulatedControllers, configuration });
  try {
    await rightsCase.run(world);
    return { refused: world.refused() };
  } catch (error) {
    return { refused: world.refused(), missing: error as Error };
  } finally {
    await world.close();
  }
}

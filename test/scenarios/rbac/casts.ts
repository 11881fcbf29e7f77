// All families with their roles and their plays, one process for the rights that all of them need, and the read API.
// Each cast covers its own rights; together they cover all rights that the chart grants.

import { parseTime, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Lease } from '@lapse/runtime/election/lease';
import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import type { Installation } from 'lapse/cli/manifests/installation';
import { buildWebhooks } from 'lapse/cli/manifests/webhooks';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import { expect } from 'vitest';
import { CHOSEN, chosenRules, withChosen } from './chosen.ts';
import { cleaners, storagePools, ttlAfterFinished, ttlPolicy } from './endings.ts';
import { impersonatingInstallationOf, installationOf } from './installation.ts';
import { grantOf, type Performance, type Play } from './play.ts';
import { performReadApi, readApiObjects } from './readApi.ts';
import {
  expectSeries,
  manifestCapture,
  objectKeeper,
  requestTtl,
  volumeCapture,
  volumeRestore,
} from './requests.ts';
import { type OneRight, rightsIn } from './rights.ts';
import { openWorld } from './world.ts';

const PLAYS: Readonly<Record<string, Play>> = {
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
const processPlay: Play = {
  async act(world) {
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

export interface Cast {
  readonly name: string;
  /** The account and its roles. */
  readonly access: readonly KubeObject[];
  /** The rights that it covers. */
  readonly rights: readonly OneRight[];
  /** The play, with these roles. */
  perform(access: readonly KubeObject[]): Promise<Performance>;
}

const AUTHOR_KEY = /^create secrets$|^get secrets lapse-author-key$/;

function castOf(name: string, families: readonly string[], play: Play): Cast {
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
    return AUTHOR_KEY.test(text) === (name !== 'process');
  };
  const rights = rightsIn(access).filter(isOwn);
  return { name, access, rights, perform: (given) => perform(installation, play, given) };
}

/** A family with another configuration. It covers the rights that this configuration adds. */
function chosenCastOf(family: Family): Cast {
  const { name, configuration } = { name: family.name, ...CHOSEN[family.name]! };
  const installation = installationOf(family);
  const access = withChosen(buildInstallationAccess(installation), chosenRules(family, FAMILIES));
  const isChosen = ({ at: [object] }: OneRight) => access[object]!.metadata.name === 'lapse:chosen';
  return {
    name: `${name} with ${JSON.stringify(configuration)}`,
    access,
    rights: rightsIn(access).filter(isChosen),
    perform: (given) => perform(installation, CHOSEN[name]!, given),
  };
}

export const familyCast = (name: string): Cast =>
  castOf(name, [name], PLAYS[name] ?? { act: async () => {} });

const readApiCast = (access = readApiObjects()): Cast => ({
  name: 'read-api',
  access,
  rights: rightsIn(access),
  perform: performReadApi,
});

export const allCasts = (): Cast[] => [
  ...FAMILIES.map(({ name }) => familyCast(name)),
  castOf('process', ['cleaner', 'volume-restore'], processPlay),
  ...FAMILIES.filter(({ name }) => CHOSEN[name] !== undefined).map(chosenCastOf),
  readApiCast(),
];

async function perform(
  installation: Installation,
  play: Play,
  access: readonly KubeObject[],
): Promise<Performance> {
  const { kinds = [], simulatedControllers = [], granted = [], configuration = {} } = play;
  const grants = granted.length === 0 ? [] : grantOf(granted, installation);
  const given = [...access, ...grants];
  const world = await openWorld({ installation, access: given, kinds, simulatedControllers, configuration });
  try {
    await play.act(world);
    return { refused: world.refused() };
  } catch (error) {
    return { refused: world.refused(), missing: error as Error };
  } finally {
    await world.close();
  }
}

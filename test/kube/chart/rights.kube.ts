// No unneeded rights: every family runs with the roles of the chart, and the audit log of the API server must show each
// verb of each rule in use, and no refused request. test/scenarios/rbac shows, one by one, that each right is needed.

import { readFileSync } from 'node:fs';
import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import { familyRules, hooksOf, type Installation } from 'lapse/cli/manifests/installation';
import { readExamples } from 'lapse/cli/up/examples';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import type { Rule } from 'lapse/manager/rbac';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LapseProcess } from '../../cmd/lapseProcess.ts';
import { installationOf, NAMESPACE } from '../../scenarios/rbac/installation.ts';
import { RARE } from '../../scenarios/rbac/rare.ts';
import { describeRight } from '../../scenarios/rbac/rights.ts';
import { grantOf } from '../../scenarios/rbac/rightsCase.ts';
import { type Bed, startBed } from '../bed/bed.ts';
import { freePorts } from '../bed/ports.ts';
import { type FamilyCluster, openFamilyCluster } from '../rbac/cluster.ts';
import { localWebhooks, webhookFlags } from '../rbac/webhooks.ts';
import { SCENARIOS } from './rightsScenarios.ts';

let bed: Bed;
let cluster: FamilyCluster;

beforeAll(async () => {
  // Streamed lists would leave the right to list to older servers.
  bed = await startBed({ auditLog: true, extraApiserverArgs: ['--feature-gates=WatchList=false'] });
  const { url, adminToken, directory } = bed;
  cluster = await openFamilyCluster({ url, adminToken, directory, ca: readFileSync(bed.caFile, 'utf8') });
});
afterEach(() => cluster.endProcesses());
afterAll(async () => {
  await cluster?.close();
  await bed?.stop();
});

interface Asked {
  readonly verb: string;
  readonly group: string;
  /** With its subresource. */
  readonly resource: string;
  readonly name: string;
  readonly code: number;
}

/** Every answered request of a user, impersonation included: the requesting user needs the right. */
function audited(user: string): Asked[] {
  return readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes(JSON.stringify(user)))
    .filter((line) => /"stage":"Response(Complete|Started)"/.test(line))
    .map((line) => JSON.parse(line))
    .filter(({ user: who }) => who.username === user)
    .flatMap(({ verb, objectRef = {}, responseStatus = {}, impersonatedUser }) => [
      {
        verb,
        group: objectRef.apiGroup ?? '',
        resource: [objectRef.resource, objectRef.subresource].filter(Boolean).join('/'),
        name: objectRef.name ?? '',
        code: responseStatus.code,
        acting: impersonatedUser !== undefined,
      },
      ...(impersonatedUser === undefined
        ? []
        : [
            {
              verb: 'impersonate',
              group: '',
              resource: 'serviceaccounts',
              name: '',
              code: 200,
              acting: false,
            },
          ]),
    ])
    .filter(({ acting }) => !acting);
}

/** Verbs of rules that no request needed. */
function unused(rules: readonly Rule[], asked: readonly Asked[]): string[] {
  const isUsed = ({ apiGroups, resources, resourceNames }: Rule, verb: string) =>
    asked.some(
      (one) =>
        one.verb === verb &&
        one.group === apiGroups[0] &&
        one.resource === resources[0] &&
        (resourceNames === undefined || resourceNames.includes(one.name)),
    );
  return rules.flatMap((rule) =>
    rule.verbs.filter((verb) => !isUsed(rule, verb)).map((verb) => describeRight(rule, verb)),
  );
}

const onlyOf = (family: Family): Installation => ({
  ...installationOf(family),
  name: `only-${family.name}`,
});
const userOf = ({ name }: Installation): string => `system:serviceaccount:${NAMESPACE}:${name}`;

/** As the Deployment of the chart would run it. */
async function start(installation: Installation, port: number): Promise<LapseProcess> {
  const { name, controllers } = installation;
  const lapse = cluster.run(name, await cluster.tokenOf(name), [
    `--controllers=${controllers.join()}`,
    '--feature-gates=AllAlpha=true',
    '--metrics-bind-address=127.0.0.1:0',
    '--paranoid-reread',
    ...(hooksOf(installation).length > 0 ? webhookFlags(installation, port) : []),
  ]);
  await lapse.says(/"controller started"/);
  return lapse;
}

// Examples take a minute of real time; slow machines take longer.
const patient = { timeout: 300_000, interval: 500 };

describe.each(FAMILIES.map((family) => [family.name, family] as const))('%s', (name, family) => {
  test('uses every right that the chart grants, and has no request refused', async () => {
    const installation = onlyOf(family);
    const { userClient } = cluster;
    const { granted = [], before = [], run } = SCENARIOS[name] ?? {};
    const access = [...buildInstallationAccess(installation), ...grantOf(granted, installation)];
    const [port] = (await freePorts(1)) as [number];
    const hooks = localWebhooks(installation, port);
    for (const object of [...access, ...hooks, ...before]) await userClient.apply(object);
    const lapse = await start(installation, port);
    try {
      // API servers observe webhooks, and their certificates, a moment later.
      for (const { text } of readExamples()) await userClient.apply(text).catch(() => {});
      await vi.waitFor(async () => run?.({ bed, userClient }), patient);
      for (const { text } of readExamples()) await userClient.apply(text).catch(() => {});
      const own = [...familyRules(installation, installation.families[0]!)];
      const asked = () => audited(userOf(installation));
      await vi.waitFor(
        () => expect(unused(own, asked()).filter((right) => !RARE.includes(right))).toEqual([]),
        patient,
      );
      const refused = asked().filter(({ code }) => code === 401 || code === 403);
      expect(refused, lapse.out).toEqual([]);
      expect(await lapse.end()).toBe(0);
    } finally {
      for (const { kind, metadata } of hooks) await bed.kubectl('delete', kind!, metadata.name!);
    }
  });
});

test('the common rights are used by some family: Events, the lease, certificates, the author key', () => {
  const used = new Map<string, boolean>();
  for (const family of FAMILIES) {
    const installation = onlyOf(family);
    const own = new Set(
      familyRules(installation, installation.families[0]!).map((rule) => JSON.stringify(rule)),
    );
    const rules = buildInstallationAccess(installation)
      .flatMap((object) => (object as { rules?: Rule[] }).rules ?? [])
      .filter((rule) => !own.has(JSON.stringify(rule)));
    const idle = new Set(unused(rules, audited(userOf(installation))));
    for (const right of unused(rules, [])) {
      const name = right.replaceAll(installation.name, 'NAME');
      used.set(name, used.get(name) === true || !idle.has(right));
    }
  }
  expect(used.size).toBeGreaterThan(8);
  expect([...used].filter(([right, isUsed]) => !isUsed && !RARE.includes(right))).toEqual([]);
});

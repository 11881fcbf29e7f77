// No right too many: every family runs with the roles that the chart gives it, and the audit log of the API server must
// show each verb of each rule in use, and nothing refused. Take a rule away and something is refused; add one that nobody
// needs and it is never used: either way a test fails.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '#api/object';
import { realClock } from '#base/clock';
import { systemRandom } from '#base/random';
import { type Client, createClient } from '#client/client';
import { bearer, fixedCredentials } from '#client/credentials';
import { renderKubeconfig } from '#client/kubeconfigWrite';
import { undiciTransport } from '#client/undici';
import { applyCrds, kindsOf } from '#cmd/crds';
import { buildInstallationAccess } from '#cmd/manifests/access';
import { familyRules, hooksOf, type Installation } from '#cmd/manifests/installation';
import { needsOf } from '#cmd/manifests/needs';
import { buildWebhooks } from '#cmd/manifests/webhooks';
import type { Rule } from '#cmd/rbac';
import { readExamples } from '#cmd/up/examples';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { Manager } from '#runtime/manager';
import { createHands } from '#sim/hands';
import { SNAPSHOT_KINDS } from '#standins/snapshotKinds';
import { standinsNamed } from '#standins/standins';
import { LapseProcess } from '../../cmd/lapseProcess.ts';
import { type Bed, startBed } from '../bed/bed.ts';
import { freePorts } from '../bed/ports.ts';
import { NAMESPACE } from './chartBed.ts';
import { SCENARIOS } from './rightsScenarios.ts';

const running: LapseProcess[] = [];
let bed: Bed;
let admin: Client;
let ca: string;
let standins: Manager | undefined;

beforeAll(async () => {
  // Streamed lists would leave the right to list to older servers.
  bed = await startBed({ auditLog: true, extraApiserverArgs: ['--feature-gates=WatchList=false'] });
  ca = readFileSync(bed.caFile, 'utf8');
  admin = createClient({
    transport: undiciTransport({ server: bed.url, clock: realClock, tls: { ca } }),
    clock: realClock,
    random: systemRandom,
    credentials: fixedCredentials({ headers: bearer(bed.adminToken) }),
  });
  await applyCrds(admin, realClock, [...kindsOf(FAMILIES), ...SNAPSHOT_KINDS]);
  await createHands(admin).apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  } as KubeObject);
  standins = new Manager({
    clock: realClock,
    random: systemRandom,
    client: admin,
    controllers: standinsNamed(['*']),
  });
  standins.start();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
});
afterAll(async () => {
  await standins?.stop();
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

/** Every answered request of a user, impersonation included: who asks is who needs the right. */
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

const describeRule = ({ apiGroups, resources, resourceNames }: Rule, verb: string): string =>
  [verb, resources[0], apiGroups[0], ...(resourceNames ?? [])].filter(Boolean).join(' ');

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
    rule.verbs.filter((verb) => !isUsed(rule, verb)).map((verb) => describeRule(rule, verb)),
  );
}

const installationOf = (family: Family): Installation => ({
  name: `only-${family.name}`,
  namespace: NAMESPACE,
  image: '',
  replicas: 1,
  controllers: [family.name],
  featureGates: { AllAlpha: true },
  actAs: 'author',
  dryRun: false,
  families: [needsOf(family, FAMILIES)],
});
const userOf = ({ name }: Installation): string => `system:serviceaccount:${NAMESPACE}:${name}`;

/** The webhooks of the chart, with an address of this machine instead of a Service. */
function reachable(installation: Installation, port: number): KubeObject[] {
  return buildWebhooks(installation)
    .filter(({ kind }) => kind !== 'Service')
    .map((configuration) => {
      const { webhooks } = configuration as unknown as {
        webhooks: { clientConfig: { service: { path: string } } }[];
      };
      const local = webhooks.map((webhook) => {
        const url = `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`;
        return { ...webhook, clientConfig: { url } };
      });
      return { ...configuration, webhooks: local } as KubeObject;
    });
}

/** As the Deployment of the chart would run it. */
async function start(installation: Installation, port: number): Promise<LapseProcess> {
  const { name, controllers } = installation;
  const token = (await bed.kubectl('create', 'token', name, '-n', NAMESPACE)).trim();
  const directory = join(bed.directory, name);
  mkdirSync(directory);
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, renderKubeconfig({ name, server: bed.url, ca, token, namespace: NAMESPACE }));
  const webhook = [
    `--webhook-port=127.0.0.1:${port}`,
    `--webhook-secret=${name}-webhook`,
    '--webhook-hosts=127.0.0.1',
    `--webhook-configurations=${name}`,
  ];
  const flags = [
    `--controllers=${controllers.join()}`,
    '--feature-gates=AllAlpha=true',
    '--metrics-bind-address=127.0.0.1:0',
    `--leader-elect-resource-name=${name}`,
    '--paranoid-reread',
    ...(hooksOf(installation).length > 0 ? webhook : []),
  ];
  const lapse = new LapseProcess(['run', ...flags, '--kubeconfig', kubeconfig], { REQUEST_TTL: '1s' });
  running.push(lapse);
  await lapse.says(/"controller started"/);
  return lapse;
}

/** Rights to kinds of others, as operators give them. */
async function grant(account: string, kinds: readonly string[]): Promise<void> {
  const name = `${account}-granted`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name };
  const rules = kinds.map((kind) => {
    const [resource, group = ''] = kind.split('.');
    return { apiGroups: [group], resources: [resource], verbs: ['get', 'list', 'watch', 'delete'] };
  });
  const hands = createHands(admin);
  await hands.apply({ apiVersion, kind: 'ClusterRole', metadata, rules } as KubeObject);
  await hands.apply({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: account }],
  } as KubeObject);
}

// Examples take a minute of real time to end; slow machines take longer.
const patient = { timeout: 300_000, interval: 500 };

describe.each(FAMILIES.map((family) => [family.name, family] as const))('%s', (name, family) => {
  test('uses every right that the chart gives it, and is refused nothing', async () => {
    const installation = installationOf(family);
    const hands = createHands(admin);
    const access = buildInstallationAccess(installation);
    const [port] = (await freePorts(1)) as [number];
    const hooks = reachable(installation, port);
    for (const object of [...access, ...hooks]) await hands.apply(object);
    const scenario = SCENARIOS[name] ?? {};
    await grant(installation.name, scenario.granted ?? []);
    const lapse = await start(installation, port);
    try {
      // API servers take note of webhooks, and of their certificates, a moment later.
      for (const { text } of readExamples()) await hands.apply(text).catch(() => {});
      await vi.waitFor(async () => scenario.play?.({ bed, hands }), patient);
      for (const { text } of readExamples()) await hands.apply(text).catch(() => {});
      const own = [...familyRules(installation, installation.families[0]!)];
      const excused = new Set(Object.keys(scenario.races ?? {}));
      const asked = () => audited(userOf(installation));
      await vi.waitFor(
        () => expect(unused(own, asked()).filter((right) => !excused.has(right))).toEqual([]),
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

test('what every process has is used by some: Events, the lease, certificates, the key of authors', () => {
  const used = new Map<string, boolean>();
  for (const family of FAMILIES) {
    const installation = installationOf(family);
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
  // An Event that repeats within minutes is patched: src/runtime/events/outbox.test.ts. A certificate is renewed after
  // months: src/runtime/host/selfManaged.test.ts.
  expect([...used].filter(([, isUsed]) => !isUsed).map(([right]) => right)).toEqual([
    'patch events events.k8s.io',
    'update secrets NAME-webhook',
  ]);
});

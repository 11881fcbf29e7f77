import { createServer } from '@lapse/apiserver/server';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { expect, test } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import { loadForCluster } from './installation.ts';

const configuration = (fields: string) =>
  `apiVersion: lapse.dev/v1alpha1\nkind: LapseConfiguration\n${fields}\n`;

/** The configuration that a command without flags loads from a cluster with these ConfigMaps, and its messages. */
async function load(
  maps: readonly { name: string; labels?: Record<string, string>; text?: string }[],
  more: { readonly flags?: Record<string, string>; readonly file?: string; readonly defaults?: object } = {},
) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createServer({ clock, random });
  const client: Client = createClient({ transport: inProcessTransport(server.handle), clock, random });
  const labels = { 'lapse.dev/configuration': 'true' };
  for (const { name, text, ...own } of maps)
    objectOf(
      await client.create(ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'kube-system', labels: own.labels ?? labels },
        ...(text === undefined ? {} : { data: { 'lapse.yaml': text } }),
      }),
    );
  const said: string[] = [];
  const { flags = {}, file, defaults } = more;
  const sources = {
    flags,
    environment: {},
    ...(defaults === undefined ? {} : { defaults: defaults as never }),
    ...(file === undefined ? {} : { file: { name: 'given.yaml', text: file } }),
  };
  try {
    const { actAs, dryRun } = await loadForCluster(FAMILIES, sources, client, (text) => said.push(text));
    return { actAs, dryRun, said };
  } finally {
    await server.close();
  }
}

const AS_CONTROLLER = { name: 'lapse', text: configuration('actAs: controller\ndryRun: true') };

test.each<[string, Parameters<typeof load>, object]>([
  ['without a ConfigMap has the defaults', [[]], { actAs: 'author', dryRun: false, said: [] }],
  ['has the values of the installation', [[AS_CONTROLLER]], { actAs: 'controller', dryRun: true, said: [] }],
  [
    'ignores ConfigMaps without the label',
    [[{ ...AS_CONTROLLER, labels: {} }]],
    { actAs: 'author', said: [] },
  ],
  ['ignores ConfigMaps without a configuration', [[{ name: 'lapse' }]], { actAs: 'author', said: [] }],
  [
    'prefers flags over the installation',
    [[AS_CONTROLLER], { flags: { 'act-as': 'author' } }],
    { actAs: 'author', dryRun: true },
  ],
  [
    'is replaced by --config',
    [[AS_CONTROLLER], { file: configuration('dryRun: false') }],
    { actAs: 'author', dryRun: false },
  ],
  [
    'prefers the requirements of the command over the installation',
    [[{ ...AS_CONTROLLER, text: configuration('actAs: author') }], { defaults: { actAs: 'controller' } }],
    { actAs: 'controller' },
  ],
  [
    'ignores two ConfigMaps and reports it',
    [[AS_CONTROLLER, { ...AS_CONTROLLER, name: 'other' }]],
    {
      actAs: 'author',
      said: [
        expect.stringMatching(/ConfigMap kube-system\/lapse and .*other both configure Lapse.*--config/),
      ],
    },
  ],
])('the configuration for a cluster %s', async (_name, args, expected) => {
  expect(await load(...args)).toMatchObject(expected);
});

test('a configuration that cannot be read is a usage error that names its ConfigMap', async () => {
  const text = configuration('actAs: nobody');
  await expect(load([{ ...AS_CONTROLLER, text }])).rejects.toThrow(/ConfigMap kube-system\/lapse: actAs/);
});

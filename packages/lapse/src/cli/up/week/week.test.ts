import { hours, instant, minus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { readManifests } from '@lapse/simulation/userClient';
import { describe, expect, test } from 'vitest';
import { computeDone } from '../computeDone.ts';
import { readExamples } from '../examples.ts';
import { remainingText } from './remaining.ts';
import { ROLES } from './roles.ts';
import { DAYS, writeScript } from './script.ts';
import { parseSeed } from './week.ts';

const START = instant(1_767_225_600_000);
const examples = readExamples();
const script = writeScript(examples, START, seededRandom(1));
const refOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`;

describe('the week', () => {
  test('is the same for the same seed and differs for another', () => {
    expect(writeScript(examples, START, seededRandom(1))).toEqual(script);
    expect(writeScript(examples, START, seededRandom(2))).not.toEqual(script);
  });

  test('contains every document of the examples, and nothing else', () => {
    const documents = examples.flatMap(({ name, text }) =>
      readManifests(text).map((object) => `${name.split('/')[0]} ${refOf(object)}`),
    );
    const played = [...script.opening, ...script.acts].flatMap(({ example, objects }) =>
      objects.map((object) => `${example} ${refOf(object)}`),
    );
    const unnumbered = new Set(
      played.map((one) => (documents.includes(one) ? one : one.replace(/-[1-7](?=$|-0)/, ''))),
    );
    expect([...unnumbered].sort()).toEqual(documents.sort());
    for (const { who, example } of ROLES)
      for (const one of who)
        expect(
          documents.some((name) => name.startsWith(example) && name.endsWith(` ${one}`)),
          one,
        ).toBe(true);
  });

  test('contains objects of every example on every day, in order', () => {
    const times = script.acts.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(script.end - script.start).toBe(hours(24 * DAYS));
    expect(Math.max(...times)).toBeLessThan(script.end);
    for (const folder of new Set(examples.map(({ name }) => name.split('/')[0]!)))
      expect(
        new Set(
          script.acts
            .filter(({ example }) => example.startsWith(folder))
            .map(({ at }) => Math.floor(minus(at, START) / hours(24))),
        ).size,
        folder,
      ).toBe(DAYS);
  });

  test('a preview has a different name on each day, in all objects that refer to it', () => {
    const [act] = script.acts.filter(({ objects }) =>
      objects.some((one) => refOf(one) === 'Cleaner/sfj-4f2a--shop-3'),
    );
    expect(act!.objects.map(refOf)).toEqual([
      'Service/sfj-4f2a--shop-3',
      'Revision/sfj-4f2a--shop-3-00001',
      'Revision/sfj-4f2a--shop-3-00002',
      'Cleaner/sfj-4f2a--shop-3',
    ]);
    expect(JSON.stringify(act!.objects)).not.toMatch(/sfj-4f2a--shop(?!-3)/);
  });
});

test.each(['', '-1', '1.5', 'x', '1234567890'])('--seed %j is refused', (text) =>
  expect(() => parseSeed(text)).toThrow(/--seed must be a whole number/),
);

describe('ends detected in a change', () => {
  const object = (more: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', ...more },
  });
  const withStatus = (status: object): KubeObject => ({ ...object(), status });
  const pool = (...nodes: string[]) => withStatus({ eligibleNodes: nodes.map((nodeName) => ({ nodeName })) });
  const ready = (status: string) => withStatus({ conditions: [{ type: 'Ready', status }] });
  const change = (kind: string, before?: KubeObject, after?: KubeObject): Change => ({
    at: START,
    serverAt: START,
    group: '',
    resource: 'as',
    kind,
    name: 'a',
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    by: 'process',
  });
  test.each<[string, Change, string[]]>([
    ['a created object is not counted', change('A', undefined, object()), []],
    [
      'its deletion is accepted',
      change('A', object(), object({ deletionTimestamp: 'now' })),
      ['a/a deleted'],
    ],
    ['it is removed at once', change('A', object()), ['a/a deleted']],
    ['its removal after that is not counted again', change('A', object({ deletionTimestamp: 'now' })), []],
    [
      'a request succeeds',
      change('VolumeCaptureRequest', object(), ready('True')),
      ['volumecapturerequest/a finished'],
    ],
    [
      'a request fails',
      change('VolumeRestoreRequest', object(), ready('False')),
      ['volumerestorerequest/a finished'],
    ],
    [
      'an unchanged result is not counted again',
      change('ManifestCaptureRequest', ready('True'), ready('True')),
      [],
    ],
    ['Ready of other kinds is not counted', change('Node', object(), ready('True')), []],
    [
      'a node is removed from a pool',
      change('ReplicatedStoragePool', pool('n', 'm'), pool('m')),
      ['node/n removed'],
    ],
    ['a node returns to a pool', change('ReplicatedStoragePool', pool('m'), pool('n', 'm')), []],
  ])('%s', (_rule, given, expected) =>
    expect(computeDone(given).map(({ ref, how }) => `${ref} ${how}`)).toEqual(expected),
  );
});

test('the list of remaining objects fits the terminal', () => {
  const left = [
    { ref: 'job/a', at: START, because: 'TTL' },
    { ref: 'job/b', because: 'opted out '.repeat(20) },
    ...Array.from({ length: 30 }, (_, i) => ({ ref: `job/${i}`, because: 'opted out' })),
  ];
  const lines = remainingText(left, () => 'Mon', 79).split('\n');
  expect(lines[0]).toBe('left, 32:');
  expect(lines[1]).toMatch(/^ {2}job\/a +deleted Mon: TTL$/);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
  expect(lines.join(' ').split('opted out').length - 1).toBe(20 + 18);
  expect(lines.at(-1)).toBe('  … and 12 more');
  expect(remainingText([], String, 79)).toBe('no temporary object is left');
});

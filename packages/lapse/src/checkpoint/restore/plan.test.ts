// Tests a restore plan and its execution against a scripted client.

import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import { carryOut, type Done } from './act.ts';
import { type PlanOptions, planRestore, type RestoreClient, type Step } from './plan.ts';
import { prepareRestore } from './prepare.ts';

const configMap = (name: string, more: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', ...metadata },
  ...more,
});

interface World {
  readonly live?: readonly KubeObject[];
  /** The namespace; null: it does not exist. */
  readonly namespace?: object | null | ApiError;
  readonly verbs?: readonly string[];
  readonly namespaced?: boolean;
  readonly refuses?: (object: KubeObject) => ApiError | undefined;
}

function clientOf(world: World) {
  const { live = [], namespace = {}, verbs = ['patch'], namespaced = true, refuses } = world;
  const applied: { name: string; dryRun: boolean; version: string | undefined }[] = [];
  const client = {
    discovery: { find: async () => ({ resource: 'configmaps', verbs, namespaced }) },
    get: async (kind: { kind?: string }, { name }: { name: string }) => {
      if (kind.kind !== 'Namespace') return live.find(({ metadata }) => metadata.name === name);
      if (namespace instanceof ApiError) throw namespace;
      return namespace === null ? undefined : { metadata: { name, ...namespace } };
    },
    apply: async (_: unknown, object: KubeObject, options: { dryRun?: boolean }) => {
      const { name = '', resourceVersion: version } = object.metadata;
      applied.push({ name, dryRun: options.dryRun === true, version });
      const error = refuses?.(object);
      if (error?.code === 403) throw error;
      return error === undefined
        ? { kind: 'applied', object, created: true }
        : { kind: 'conflict', by: 'changed', error };
    },
  } as unknown as RestoreClient;
  return { client, applied };
}

const plan = (world: World, objects: readonly KubeObject[], more: Partial<PlanOptions> = {}) => {
  const { client, applied } = clientOf(world);
  const prepared = prepareRestore(objects, { source: 'shop' });
  return { client, applied, steps: planRestore(client, prepared, { namespace: 'shop', ...more }) };
};

const summaries = (steps: readonly Step[]) =>
  steps.map((step) => `${step.kind} ${'because' in step ? step.because : step.what}`);

describe('a restore plan', () => {
  const rows: Record<string, readonly [World, readonly KubeObject[], readonly string[]]> = {
    'creates an object that does not exist': [{}, [configMap('a')], ['create v1 ConfigMap shop/a']],
    'does not change an identical object': [
      { live: [configMap('a', { data: { x: '1' } }, { resourceVersion: '7' })] },
      [configMap('a', { data: { x: '1' } })],
      ['unchanged v1 ConfigMap shop/a'],
    ],
    'applies a duplicate object once': [
      {},
      [configMap('a'), configMap('a', { data: { x: 'other' } })],
      ['create v1 ConfigMap shop/a', 'skip it is in the checkpoint twice'],
    ],
    'refuses an object that is being deleted': [
      { live: [configMap('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
      [configMap('a')],
      ['refused it is being deleted; try again when it is gone'],
    ],
    'refuses a kind that cannot be patched': [
      { verbs: ['get', 'list'] },
      [configMap('a')],
      ['refused configmaps cannot be applied'],
    ],
    'refuses a kind that is not namespaced in this cluster': [
      { namespaced: false },
      [configMap('a')],
      ['refused configmaps are not in namespaces here'],
    ],
    'refuses an object with the message of the server if the user may not write it': [
      { refuses: () => new ApiError(403, 'Forbidden', 'not you') },
      [configMap('a')],
      ['refused not you'],
    ],
    'skips an object that is nested too deeply': [
      {},
      [configMap('a', { data: deep(1001) })],
      ['skip it is nested too deeply'],
    ],
    'skips an object without a name or with an unreadable apiVersion': [
      {},
      [configMap(''), { ...configMap('a'), apiVersion: 'a/b/c' }],
      ['skip it has no name', 'skip its apiVersion cannot be read'],
    ],
  };
  test.each(Object.entries(rows))('%s', async (_, [world, objects, expected]) => {
    const { steps, applied } = plan(world, objects);
    expect(summaries(await steps)).toEqual(expected);
    expect(applied.every(({ dryRun }) => dryRun)).toBe(true);
  });

  test('throws if the namespace is being deleted', async () => {
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    await expect(plan({ namespace: going }, [configMap('a')]).steps).rejects.toThrow(/is being deleted/);
  });

  test('continues if the user may not read the namespace', async () => {
    const forbidden = new ApiError(403, 'Forbidden', 'no');
    expect(summaries(await plan({ namespace: forbidden }, [configMap('a')]).steps)).toEqual([
      'create v1 ConfigMap shop/a',
    ]);
    const broken = new ApiError(500, 'InternalError', 'broken');
    await expect(plan({ namespace: broken }, [configMap('a')]).steps).rejects.toThrow('broken');
  });

  test('reports the progress after every object', async () => {
    const seen: string[] = [];
    const onProgress = (done: number, total: number) => void seen.push(`${done}/${total}`);
    await plan({}, [configMap('a'), configMap('b')], { onProgress }).steps;
    expect(seen).toEqual(['1/2', '2/2']);
  });
});

describe('the execution of a plan', () => {
  const carry = async (world: World, objects: readonly KubeObject[]) => {
    const { client, steps } = plan({ ...world, refuses: () => undefined }, objects);
    const planned = await steps;
    const acting = clientOf(world);
    const done: Done[] = [];
    for await (const one of carryOut(acting.client, planned)) done.push(one);
    return { done, applied: acting.applied, client };
  };

  test('sends the compared resourceVersion with a change, and none with a creation', async () => {
    const live = [configMap('b', { data: { x: '1' } }, { resourceVersion: '7' })];
    const { done, applied } = await carry({ live }, [configMap('a'), configMap('b', { data: { x: '2' } })]);
    expect(done.map(({ kind }) => kind)).toEqual(['created', 'changed']);
    expect(applied).toEqual([
      { name: 'a', dryRun: false, version: undefined },
      { name: 'b', dryRun: false, version: '7' },
    ]);
  });

  test.each([409, 403])('stops at the first object that fails (%i)', async (code) => {
    const refuses = ({ metadata }: KubeObject) =>
      metadata.name === 'b' ? new ApiError(code, 'Any', 'no') : undefined;
    const { done, applied } = await carry(
      { refuses },
      ['a', 'b', 'c'].map((name) => configMap(name)),
    );
    expect(done.map(({ kind }) => kind)).toEqual(['created', 'failed']);
    expect(applied.map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

function deep(levels: number): object {
  let value: object = {};
  for (let i = 0; i < levels; i++) value = { v: value };
  return value;
}

import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { ChangeKeys } from './changeKeys.ts';
import { localTime } from './decisionTime.ts';
import type { ControllerDefinition } from './definition.ts';
import type { KeyId } from './interner.ts';
import { settled } from './outcome.ts';
import type { KindReader } from './pass.ts';
import { queueKit } from './queue.testkit.ts';
import { Thing } from './reflector.testkit.ts';

const thing = (uid: string, size: number): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', uid },
  spec: { size },
});

describe('changes of the own kind', () => {
  test.each<[string, Thing | undefined, Thing | undefined, boolean, string | undefined]>([
    ['listed', undefined, thing('u1', 1), true, 'Thing listed'],
    ['added', undefined, thing('u1', 1), false, 'Thing added'],
    ['a fact changed', thing('u1', 1), thing('u1', 2), false, 'Thing changed'],
    ['no fact changed', thing('u1', 1), thing('u1', 1), false, undefined],
    ['another object of the same name and facts', thing('u1', 1), thing('u2', 1), false, 'Thing changed'],
    ['deleted', thing('u1', 1), undefined, false, 'Thing deleted'],
  ])('%s', (_what, before, after, initial, reason) => {
    const q = queueKit();
    const definition: ControllerDefinition<Thing> = {
      name: 'c',
      for: Thing,
      facts: ({ spec }) => spec,
      reconcile: () => settled(),
    };
    const keys = new ChangeKeys({
      definition: definition as ControllerDefinition,
      queue: q.queue,
      interner: q.interner,
      time: localTime(q.clock),
      cache: {} as KindReader,
    });
    const id: KeyId = q.interner.intern('n/a');
    keys.primary({ id, before, after, initial } as {
      id: KeyId;
      before: KubeObject;
      after: KubeObject;
      initial: boolean;
    });
    const taken = q.take();
    expect(taken === undefined ? undefined : q.last().reason).toBe(reason);
  });
});

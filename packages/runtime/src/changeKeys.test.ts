import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { ChangeKeys } from './changeKeys.ts';
import { localTime } from './decisionTime.ts';
import type { ControllerDefinition } from './definition.ts';
import type { KeyId } from './interner.ts';
import { settled } from './outcome.ts';
import { queueKit } from './queue.testkit.ts';
import type { KindReader } from './reconcileContext.ts';
import { Thing } from './reflector.testkit.ts';

const thing = (uid: string, size: number): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', uid },
  spec: { size },
});

describe("ChangeKeys: changes of the controller's own kind", () => {
  test.each<[string, Thing | undefined, Thing | undefined, boolean, string | undefined]>([
    ['enqueues a listed object', undefined, thing('u1', 1), true, 'Thing listed'],
    ['enqueues an added object', undefined, thing('u1', 1), false, 'Thing added'],
    ['enqueues an object whose facts changed', thing('u1', 1), thing('u1', 2), false, 'Thing changed'],
    ['ignores an object whose facts did not change', thing('u1', 1), thing('u1', 1), false, undefined],
    ['enqueues a recreated object with equal facts', thing('u1', 1), thing('u2', 1), false, 'Thing changed'],
    ['enqueues a deleted object', thing('u1', 1), undefined, false, 'Thing deleted'],
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

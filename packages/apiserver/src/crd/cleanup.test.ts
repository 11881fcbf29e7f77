import { VirtualClock } from '@lapse/base/virtualClock';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Journal, type JournalRecord, Store } from '../store/store.ts';
import {
  api,
  CRDS_PATH,
  conditionsOf,
  crd,
  GROUP,
  restartServer,
  useServer,
  WIDGETS,
  WIDGETS_CRD,
  widget,
} from './testkit.ts';

useServer();

describe('deletion of a CRD', () => {
  beforeEach(async () => {
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
  });

  test('deletes its objects', async () => {
    await api.post(WIDGETS, widget('a'));
    const response = await api.send('GET', `${WIDGETS}?watch=1&resourceVersion=0`);
    const deleted = await api.delete(WIDGETS_CRD);
    expect(deleted.body['metadata']).toMatchObject({
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    });
    expect(conditionsOf(deleted)).toContain('Terminating=True/InstanceDeletionPending');
    await api.settle();
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
    expect((await api.get(WIDGETS)).text).toBe('404 page not found\n');
    let seen = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) seen += String(chunk);
    expect(seen.match(/"type":"[A-Z]+"/g)).toEqual(['"type":"ADDED"', '"type":"DELETED"']);
    // A new CRD of the same name starts without objects.
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    expect((await api.get(WIDGETS)).body['items']).toEqual([]);
  });

  test('waits for objects with finalizers, accepts updates and rejects creations', async () => {
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGETS_CRD);
    await api.settle();
    expect(conditionsOf(await api.get(WIDGETS_CRD))).toContain('Terminating=True/InstanceDeletionInProgress');
    expect(await api.post(WIDGETS, widget('new'))).toMatchObject({
      status: 403,
      body: {
        message: `widgets.${GROUP} "new" is forbidden: create not allowed while custom resource definition is terminating`,
      },
    });
    const kept = await api.patch(`${WIDGETS}/kept`, { metadata: { labels: { a: 'b' } } });
    expect(kept.body['metadata']).toMatchObject({ generation: 2, deletionGracePeriodSeconds: 0 });
    await api.wait(60);
    expect(conditionsOf(await api.get(WIDGETS_CRD))).toContain('Terminating=True/InstanceDeletionCheck');
    await api.patch(`${WIDGETS}/kept`, { metadata: { finalizers: null } });
    await api.settle();
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
  });

  test('deletes the objects first and then waits for other finalizers of the CRD', async () => {
    await api.patch(WIDGETS_CRD, { metadata: { finalizers: ['a.example.com/b'] } });
    await api.post(WIDGETS, widget('a'));
    await api.delete(WIDGETS_CRD);
    await api.settle();
    const waiting = await api.get(WIDGETS_CRD);
    expect(waiting.body['metadata']).toMatchObject({ finalizers: ['a.example.com/b'] });
    expect(conditionsOf(waiting)).toContain('Terminating=False/InstanceDeletionCompleted');
    await api.patch(WIDGETS_CRD, { metadata: { finalizers: null } });
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
    expect((await api.get(WIDGETS)).status).toBe(404);
  });

  test('can be forced by removing the finalizer; a new CRD then shows the remaining objects', async () => {
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGETS_CRD);
    await api.settle();
    await api.patch(WIDGETS_CRD, { metadata: { finalizers: null } });
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    expect((await api.get(`${WIDGETS}/kept`)).status).toBe(200);
  });

  test('skips the clean-up of a CRD that was never Established', async () => {
    const conflicting = {
      ...crd({
        more: { names: { plural: 'rivals', singular: 'conflicting', kind: 'Widget', listKind: 'RivalList' } },
      }),
      metadata: { name: `rivals.${GROUP}`, finalizers: ['a.example.com/b'] },
    };
    await api.post(CRDS_PATH, conflicting);
    await api.settle();
    await api.delete(`${CRDS_PATH}/rivals.${GROUP}`);
    await api.settle();
    expect(conditionsOf(await api.get(`${CRDS_PATH}/rivals.${GROUP}`))).toContain(
      'Terminating=False/NeverEstablished',
    );
  });

  test('a dry run does not mark the CRD', async () => {
    expect(conditionsOf(await api.delete(`${WIDGETS_CRD}?dryRun=All`))).toContain(
      'Terminating=True/InstanceDeletionPending',
    );
    expect((await api.get(WIDGETS_CRD)).body['metadata']).not.toHaveProperty('deletionTimestamp');
  });

  test('a wrong uid or resourceVersion is a conflict with the message of the CRD store', async () => {
    expect(await api.ask('DELETE', WIDGETS_CRD, { preconditions: { uid: 'x' } })).toMatchObject({
      status: 409,
      body: {
        details: { kind: 'customresourcedefinitions' },
        message: expect.stringContaining('UID in precondition: x'),
      },
    });
  });
});

/** Keeps records in memory, so that a store can be opened again. */
class MemoryJournal implements Journal {
  readonly records = new Map<string, JournalRecord>();
  revision = 0;
  async load() {
    return { revision: this.revision, records: [...this.records.values()] };
  }
  async append(batch: readonly JournalRecord[]) {
    for (const record of batch) {
      this.records.set(`${record.resource}/${record.key}`, record);
      this.revision = record.revision;
    }
  }
  async close() {}
}

describe('a restart', () => {
  const restart = async (journal: MemoryJournal) => {
    await api.close();
    const clock = new VirtualClock();
    await restartServer({ clock, store: await Store.open(clock, journal) });
  };
  /** Journals commit after the current turn of the event loop. */
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('serves the stored CRDs at once', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(CRDS_PATH, crd());
    await turn();
    await api.post(WIDGETS, widget('a', { spec: { size: 1 } }));
    await restart(journal);
    expect((await api.get(`${WIDGETS}/a`)).body).toMatchObject({ kind: 'Widget', spec: { size: 1 } });
  });

  test('continues a deletion', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(CRDS_PATH, crd());
    await turn();
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGETS_CRD);
    await turn();
    await restart(journal);
    await api.patch(`${WIDGETS}/kept`, { metadata: { finalizers: null } });
    await turn();
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
  });

  test('creations that race with the deletion of their CRD leave no objects', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(CRDS_PATH, crd());
    await turn();
    const race = ['a', 'b', 'c'].map((name) => api.post(WIDGETS, widget(name)));
    race.push(api.delete(WIDGETS_CRD), api.post(WIDGETS, widget('d')), api.post(WIDGETS, widget('e')));
    await Promise.all(race);
    for (let i = 0; i < 10; i++) await turn();
    expect((await api.get(WIDGETS_CRD)).status).toBe(404);
    const left = [...journal.records.values()].filter((r) => r.resource === `widgets.${GROUP}` && r.bytes);
    expect(left).toEqual([]);
  });
});

test('rejects a creation that a webhook delays until the CRD is deleted', async () => {
  await api.post(CRDS_PATH, crd());
  await api.get(WIDGETS_CRD);
  const { promise: gone, resolve: goOn } = Promise.withResolvers<void>();
  api.server.admit({
    name: 'slow.example.com',
    resources: [`widgets.${GROUP}`],
    phase: 'validating',
    async review() {
      await gone;
      return { allowed: true };
    },
  });
  const creation = api.post(WIDGETS, widget('late'));
  await api.settle();
  await api.delete(WIDGETS_CRD);
  await api.settle();
  expect((await api.get(WIDGETS_CRD)).status).toBe(404);
  goOn();
  expect((await creation).status).toBe(403);
  await api.post(CRDS_PATH, crd());
  await api.get(WIDGETS_CRD);
  expect((await api.get(WIDGETS)).body['items']).toEqual([]);
});
